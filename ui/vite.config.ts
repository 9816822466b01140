import { svelte } from "@sveltejs/vite-plugin-svelte";
import { ServerResponse } from "node:http";
import type { ProxyOptions } from "vite";
import { defineConfig } from "vitest/config";

// In a browser (tests, `vite preview`) the pages talk to a running `autokit serve` through this
// server, so that they and the engine share an origin.
const engine = process.env.AUTOKIT_ENGINE;
const proxy = engine ? { "/v1": engineProxy(engine) } : undefined;

/** The head of the news goes out at once: a proxy would hold it back until there is some. */
function engineProxy(target: string): ProxyOptions {
  return {
    target,
    changeOrigin: true,
    configure: (proxy) => {
      proxy.on("proxyRes", (_, __, response) => {
        setImmediate(() => response instanceof ServerResponse && !response.headersSent && response.flushHeaders());
      });
    },
  };
}

export default defineConfig({
  plugins: [svelte()],
  build: { target: "es2022", sourcemap: false, chunkSizeWarningLimit: 800 },
  preview: { proxy },
  server: { proxy },
  resolve: process.env.VITEST ? { conditions: ["browser"] } : undefined,
  // A test that needs a document asks for one: `@vitest-environment jsdom`.
  // Nothing takes long; the times are there so that a test that fails does not hang, also on a busy machine.
  test: { environment: "node", include: ["src/**/*.test.ts"], testTimeout: 60_000, hookTimeout: 60_000 },
});
