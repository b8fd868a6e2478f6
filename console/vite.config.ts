import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import react from '@vitejs/plugin-react'
import type { Plugin } from 'vite'
import { defineConfig } from 'vitest/config'
import { dist } from './scripts/dist.mjs'

// themeScript adds src/theme-boot.js to the head as a blocking script with a hashed name.
function themeScript(): Plugin {
  const source = readFileSync(new URL('src/theme-boot.js', import.meta.url), 'utf8')
  const fileName = `assets/theme-${createHash('sha256').update(source).digest('hex').slice(0, 8)}.js`
  let build = false
  return {
    name: 'theme-script',
    configResolved(config) {
      build = config.command === 'build'
    },
    generateBundle() {
      this.emitFile({ type: 'asset', fileName, source: source.replace(/^\/\/.*\n/gm, '') })
    },
    transformIndexHtml: () => [{ tag: 'script', attrs: { src: build ? `/${fileName}` : '/src/theme-boot.js' }, injectTo: 'head' }],
  }
}

// `npm run dev` sends requests of the API to a running server; GUIDON_URL names another than the default.
const server = process.env.GUIDON_URL ?? 'http://127.0.0.1:4242'
const proxy = Object.fromEntries(['/api', '/auth', '/docs', '/health'].map((path) => [path, { target: server }]))

export default defineConfig({
  plugins: [react(), themeScript()],
  server: { proxy },
  preview: { proxy },
  build: {
    outDir: dist,
    emptyOutDir: true,
    // Browsers that know light-dark().
    target: ['chrome123', 'edge123', 'firefox121', 'safari17.5'],
    // The Content-Security-Policy forbids data: URLs.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1000, // scripts/budget.mjs checks the size
    // Each file is a call of the function site: one has all styles, one what the first page needs, one the words for changes, one what other pages share.
    cssCodeSplit: false,
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'first', tags: ['$initial'], priority: 1 },
            { name: 'words', test: /insight\/eventtext|constraints\/(describe|edit)|strategy\/describe/, priority: 1 },
            { name: 'shared', minShareCount: 2 },
          ],
        },
      },
    },
  },
  test: {
    // A file that needs a document begins with // @vitest-environment jsdom.
    environment: 'node',
    include: ['src/**/*.test.{ts,tsx}'],
    restoreMocks: true,
  },
})
