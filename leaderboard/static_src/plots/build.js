// Bundles Vega-Lite with what it needs to static/vendor/vega/, with the licences of all bundled packages.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const SOURCES = ["package.json", "package-lock.json", "vega.js", "nothing.js", "build.js"];
// Transforms of Vega that no plot uses are left out: they are a tenth of the bundle.
const UNUSED = ["crossfilter", "force", "hierarchy", "label", "regression", "voronoi", "wordcloud"];
const TARGET = "../../static/vendor/vega";

const digest = createHash("sha256");
for (const name of SOURCES) digest.update(readFileSync(name));

mkdirSync(TARGET, { recursive: true });
const result = await build({
  entryPoints: ["vega.js"],
  bundle: true,
  minify: true,
  format: "iife",
  globalName: "vega",
  target: "es2022",
  alias: Object.fromEntries(UNUSED.map((name) => [`vega-${name}`, "./nothing.js"])),
  legalComments: "none",
  banner: { js: `/* Built by leaderboard/static_src/plots/build.js from sources of SHA-256 ${digest.digest("hex")}; licences: LICENSE */` },
  outfile: `${TARGET}/vega.min.js`,
  metafile: true,
});

const folders = new Set(
  Object.keys(result.metafile.inputs)
    .map((path) => path.match(/^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//)?.[1])
    .filter(Boolean),
);
const licences = [...folders].sort().map((folder) => {
  const about = JSON.parse(readFileSync(`${folder}/package.json`));
  const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name));
  const text = file && existsSync(`${folder}/${file}`) ? readFileSync(`${folder}/${file}`, "utf8").trim() : about.license;
  return `${about.name} ${about.version} (${about.license})\n\n${text}\n`;
});
writeFileSync(`${TARGET}/LICENSE`, licences.join(`\n${"-".repeat(80)}\n\n`));
