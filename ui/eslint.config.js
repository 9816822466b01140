import js from "@eslint/js";
import svelte from "eslint-plugin-svelte";
import globals from "globals";
import ts from "typescript-eslint";

export default ts.config(
  { ignores: ["dist/", "node_modules/", "src/lib/bindings.ts"] },
  js.configs.recommended,
  ...ts.configs.recommended,
  ...svelte.configs.recommended,
  {
    languageOptions: { globals: { ...globals.browser } },
    rules: {
      // A leading underscore says that something is not used on purpose.
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
      // Plain maps and sets are kept beside the state on purpose: what they hold is replaced as a whole.
      "svelte/prefer-svelte-reactivity": "off",
      // {" "} keeps a space that the formatter would take.
      "svelte/no-useless-mustaches": "off",
      eqeqeq: ["error", "always", { null: "ignore" }],
    },
  },
  {
    files: ["**/*.svelte", "**/*.svelte.ts"],
    languageOptions: { parserOptions: { parser: ts.parser } },
  },
  {
    files: ["tests/**", "scripts/**", "*.config.*"],
    languageOptions: { globals: { ...globals.node, ...globals.browser } },
  },
);
