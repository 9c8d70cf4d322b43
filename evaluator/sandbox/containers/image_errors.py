"""Why a submitted image is not run. Each refusal is a class with a code of its own; its text is for the participant."""

from __future__ import annotations

from typing import ClassVar

from evaluator.errors import EvaluatorError


class ImageError(EvaluatorError):
    """The image is its author's to mend: sending the same again ends the same. `str()` says what, found, expected."""

    code: ClassVar[str] = "image"


class ArchiveError(ImageError):
    """Not an archive that `docker save` writes, or cut, or with members that such an archive does not have."""

    code = "archive"


class UnsafeMemberError(ArchiveError):
    """A member whose name or kind could reach outside the archive."""

    code = "member"


class DuplicateMemberError(ArchiveError):
    """Two members of one name: readers disagree on which counts."""

    code = "duplicate"


class SeveralImagesError(ImageError):
    """Not exactly one image."""

    code = "several_images"


class TooLargeError(ImageError):
    """More bytes, files or packing than an image may have."""

    code = "too_large"


class LayerCountError(ImageError):
    """More layers than an engine mounts."""

    code = "layers"


class LayerDigestError(ImageError):
    """A layer is not what the config says it is."""

    code = "layer_digest"


class LayerContentError(ImageError):
    """A layer that is no plain tar, or holds what would unpack to something else than it is."""

    code = "layer_content"


class ConfigError(ImageError):
    """The image's config is malformed, or asks for what a submitted system may not have."""

    code = "config"


class PlatformError(ConfigError):
    """Made for another processor or operating system."""

    code = "platform"


class VolumeError(ConfigError):
    """It declares VOLUMEs: folders that stay writable on a read-only root, without a limit."""

    code = "volume"


class RegistryReferenceError(ImageError):
    """No reference by digest, or a registry that is not allowed."""

    code = "reference"


class ImageMismatchError(ImageError):
    """The engine made something else of the archive than its config says."""

    code = "mismatch"
