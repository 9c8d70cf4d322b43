// The part of tus-js-client that js/image-upload.js uses, as the global `tus`.
export { Upload } from "tus-js-client";
