"""Reasons to refuse a submitted image: one class per reason, with its own code. The text is for the participant."""

from __future__ import annotations

from typing import ClassVar

from evaluator.errors import EvaluatorError


class ImageError(EvaluatorError):
    """The image is invalid; its author has to fix it. `str()` gives the problem, the value and what was expected."""

    code: ClassVar[str] = "image"


class ImageArchiveError(ImageError):
    """Not an archive as `docker save` writes it: truncated, or with unexpected members."""

    code = "archive"


class UnsafeMemberError(ImageArchiveError):
    """A member's name or type could reach outside the archive."""

    code = "member"


class DuplicateMemberError(ImageArchiveError):
    """Two members have the same name; readers disagree on which counts."""

    code = "duplicate"


class SeveralImagesError(ImageError):
    """The archive does not have exactly one image."""

    code = "several_images"


class TooLargeError(ImageError):
    """The image exceeds the limit on bytes, files or compression ratio."""

    code = "too_large"


class LayerCountError(ImageError):
    """The image has no layers, more than an engine mounts, or different numbers in manifest and config."""

    code = "layers"


class LayerDigestError(ImageError):
    """A layer's digest differs from the image's config."""

    code = "layer_digest"


class LayerContentError(ImageError):
    """A layer is not a plain tar, or has members that engines could unpack differently."""

    code = "layer_content"


class ConfigError(ImageError):
    """The image's config is malformed, or requests what a submitted system may not have."""

    code = "config"


class PlatformError(ConfigError):
    """The image is for another processor or operating system."""

    code = "platform"


class VolumeError(ConfigError):
    """The image declares VOLUMEs: folders that stay writable on a read-only root, without a size limit."""

    code = "volume"


class RegistryReferenceError(ImageError):
    """The reference has no digest, or its registry is not allowed."""

    code = "reference"


class ImageMismatchError(ImageError):
    """The engine loaded an image that differs from the archive's config."""

    code = "mismatch"
