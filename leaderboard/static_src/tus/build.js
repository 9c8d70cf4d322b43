// Bundles tus-js-client with what it needs to static/vendor/tus/, with the licences of all bundled packages.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const SOURCES = ["package.json", "package-lock.json", "tus.js", "build.js"];
const TARGET = "../../static/vendor/tus";

const digest = createHash("sha256");
for (const name of SOURCES) digest.update(readFileSync(name));

mkdirSync(TARGET, { recursive: true });
const result = await build({
  entryPoints: ["tus.js"],
  bundle: true,
  minify: true,
  format: "iife",
  globalName: "tus",
  target: "es2022",
  legalComments: "none",
  banner: { js: `/* Built by leaderboard/static_src/tus/build.js from sources of SHA-256 ${digest.digest("hex")}; licences: LICENSE */` },
  outfile: `${TARGET}/tus.min.js`,
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
