"""Reasons to refuse a submitted image: a class with a code for each. The exception's text is for the participant."""

from __future__ import annotations

from typing import ClassVar

from evaluator.errors import EvaluatorError


class ImageError(EvaluatorError):
    """The image is invalid, and its author has to fix it.

    The text says what is wrong, and what was found and expected.
    """

    code: ClassVar[str] = "image"
    is_refunded: ClassVar[bool] = True
    """False: submitting such an image uses up quota, because it takes the engine's time or no honest build makes it."""


class ImageArchiveError(ImageError):
    """The file is not an archive as `docker save` writes it: it is truncated, or has unexpected members."""

    code = "archive"


class UnsafeMemberError(ImageArchiveError):
    """The archive has a member whose name or type could lead outside the archive when it is unpacked."""

    code = "member"


class DuplicateMemberError(ImageArchiveError):
    """Two members of the archive have the same name, of which some tar readers take the first and others the last."""

    code = "duplicate"


class SeveralImagesError(ImageError):
    """The archive has no image, or more than one."""

    code = "several_images"


class TooLargeError(ImageError):
    """The image exceeds the limit on bytes or files."""

    code = "too_large"


class LayerCountError(ImageError):
    """The image has no layers or too many, or its manifest and config list different numbers of layers."""

    code = "layers"
    is_refunded = False


class LayerDigestError(ImageError):
    """A layer's digest differs from the one in the image's config."""

    code = "layer_digest"


class LayerContentError(ImageError):
    """A layer is not a tar (plain or gzip), or has members that two engines could unpack differently."""

    code = "layer_content"


class ConfigError(ImageError):
    """The image's config is malformed, or has settings that a submitted image must not have."""

    code = "config"
    is_refunded = False


class PlatformError(ConfigError):
    """The image is for another processor or operating system."""

    code = "platform"
    is_refunded = True


class VolumeError(ConfigError):
    """The image declares VOLUMEs: folders that stay writable on a read-only root, without a size limit."""

    code = "volume"
    is_refunded = True


class RegistryReferenceError(ImageError):
    """The reference has no digest, its registry is not allowed, or the registry has no such image that may be read."""

    code = "reference"


class ImageMismatchError(ImageError):
    """The engine loaded an image whose layers differ from the archive's config, or it loaded no or several images."""

    code = "mismatch"


class EngineRefusalError(ImageError):
    """The engine refuses to unpack the image or to create a container of it, or could not run it safely."""

    code = "refused"
    is_refunded = False


class LoadTimeError(ImageError):
    """A healthy engine did not unpack the image within the time limit for loading."""

    code = "load_time"
    is_refunded = False
