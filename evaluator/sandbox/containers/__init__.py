"""The container sandbox, which runs submitted images on a Docker engine.

`docker` runs images, `image_reader` validates them. Only `engine` imports Docker's Python client.
"""
