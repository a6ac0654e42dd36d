import { defineConfig, type Plugin } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";

// heed knows the page by this name.
const as_report: Plugin = {
  name: "as-report",
  enforce: "post",
  generateBundle(_options, bundle) {
    const page = bundle["index.html"];
    if (page) page.fileName = "report.html";
  },
};

export default defineConfig({
  plugins: [viteSingleFile({ removeViteModuleLoader: true }), as_report],
  build: { outDir: "built", target: "es2022", modulePreload: false, reportCompressedSize: false },
});
