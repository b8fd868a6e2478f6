import { fileURLToPath } from 'node:url'

/** The folder of the built console. make console names one in CONSOLE_DIST and moves the files to console/dist. */
export const dist = process.env.CONSOLE_DIST ?? fileURLToPath(new URL('../node_modules/.cache/console', import.meta.url))
