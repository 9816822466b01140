import { svelte } from "@sveltejs/vite-plugin-svelte";
import { ServerResponse } from "node:http";
import type { ProxyOptions } from "vite";
import { defineConfig } from "vitest/config";

// In a browser (tests, `vite preview`), requests to a running `autokit serve` are proxied by this server, so that the
// pages and the engine share an origin.
const engine = process.env.AUTOKIT_ENGINE;
const proxy = engine ? { "/v1": engineProxy(engine) } : undefined;

/** Proxies to the engine. Sends headers at once: the event stream's would be delayed until its first event. */
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
  build: { target: "es2022", sourcemap: false, chunkSizeWarningLimit: 900 },
  preview: { proxy },
  server: { proxy },
  resolve: process.env.VITEST ? { conditions: ["browser"] } : undefined,
  // Tests that need a DOM declare `@vitest-environment jsdom`. The timeouts only end tests that hang; they are long
  // enough for a busy machine.
  test: {
    environment: "node",
    include: ["src/**/*.test.ts", "tests/release/*.test.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
