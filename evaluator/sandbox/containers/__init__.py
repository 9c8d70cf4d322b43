"""The container sandbox: `docker` runs images, `image_reader` validates them. Only `engine` imports Docker's client."""
