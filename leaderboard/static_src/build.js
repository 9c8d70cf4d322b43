// Bundles tus-js-client and Vega-Lite, each with what it needs, to static/vendor/, with the licences of all bundled packages.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const SOURCES = ["package.json", "package-lock.json", "build.js", "nothing.js", "tus.js", "vega.js"];
// Transforms of Vega that no plot uses are left out: they are a tenth of the bundle.
const UNUSED = ["crossfilter", "force", "hierarchy", "label", "regression", "voronoi", "wordcloud"];

const digest = createHash("sha256");
for (const name of SOURCES) digest.update(readFileSync(name));
const banner = `/* Built by leaderboard/static_src/build.js from sources of SHA-256 ${digest.digest("hex")}; licences: LICENSE */`;

for (const name of ["tus", "vega"]) {
  const target = `../static/vendor/${name}`;
  mkdirSync(target, { recursive: true });
  const result = await build({
    entryPoints: [`${name}.js`],
    bundle: true,
    minify: true,
    format: "iife",
    globalName: name,
    target: "es2022",
    alias: Object.fromEntries(UNUSED.map((transform) => [`vega-${transform}`, "./nothing.js"])),
    legalComments: "none",
    banner: { js: banner },
    outfile: `${target}/${name}.min.js`,
    metafile: true,
  });
  writeFileSync(`${target}/LICENSE`, licences(result.metafile.inputs).join(`\n${"-".repeat(80)}\n\n`));
}

// The name, version and licence text of each package that is in a bundle; `inputs` are the paths of its modules.
function licences(inputs) {
  const folders = new Set(
    Object.keys(inputs)
      .map((path) => path.match(/^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//)?.[1])
      .filter(Boolean),
  );
  return [...folders].sort().map((folder) => {
    const about = JSON.parse(readFileSync(`${folder}/package.json`));
    const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name));
    const text = file && existsSync(`${folder}/${file}`) ? readFileSync(`${folder}/${file}`, "utf8").trim() : about.license;
    return `${about.name} ${about.version} (${about.license})\n\n${text}\n`;
  });
}
