import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";

// In a browser (tests, `vite preview`) the pages talk to a running `autokit serve` through this
// server, so that they and the engine share an origin.
const engine = process.env.AUTOKIT_ENGINE;

export default defineConfig({
  plugins: [svelte()],
  build: { target: "es2022", sourcemap: false, chunkSizeWarningLimit: 800 },
  preview: { proxy: engine ? { "/v1": { target: engine, changeOrigin: true } } : undefined },
  server: { proxy: engine ? { "/v1": { target: engine, changeOrigin: true } } : undefined },
  resolve: process.env.VITEST ? { conditions: ["browser"] } : undefined,
  test: { environment: "jsdom", include: ["src/**/*.test.ts"] },
});
