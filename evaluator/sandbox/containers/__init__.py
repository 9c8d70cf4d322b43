"""The container sandbox: `docker` runs images, `image_reader` reads them. Only `engine` imports Docker's client."""
