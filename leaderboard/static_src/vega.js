// The parts of Vega that js/plots.js uses, as the global `vega`.
export { compile } from "vega-lite";
export { expressionInterpreter } from "vega-interpreter";
export { Error as ERROR_LEVEL, View, logger, parse } from "vega";
