// Takes the place of packages that are left out of the bundle (build.js).
export {};
