import js from '@eslint/js'
import { defineConfig } from 'eslint/config'
import reactHooks from 'eslint-plugin-react-hooks'
import ts from 'typescript-eslint'

export default defineConfig(
  { ignores: ['dist', '.new', 'src/api/schema.d.ts', 'playwright-report', 'test-results'] },
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  js.configs.recommended,
  ts.configs.recommended,
  { rules: { '@typescript-eslint/no-unused-vars': ['error', { ignoreRestSiblings: true }] } },
  {
    files: ['src/**'],
    extends: [reactHooks.configs.flat.recommended],
    rules: { 'react-hooks/exhaustive-deps': 'error' },
  },
  { files: ['scripts/**'], languageOptions: { globals: { URL: false, console: false, process: false } } },
  { files: ['src/theme-boot.js'], languageOptions: { globals: { document: false, localStorage: false } } },
)
