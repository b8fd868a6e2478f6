import { defineConfig } from '@playwright/test'

export default defineConfig({
  testDir: 'e2e',
  // The project with 10,000 flags takes minutes to create: make trust runs it.
  testIgnore: [...(process.env.SCALE ? [] : ['scale.spec.ts']), ...(process.env.DOCS ? [] : ['docs.spec.ts']), ...(process.env.SHEET ? [] : ['sheet.spec.ts'])],
  workers: 2,
  fullyParallel: false,
  // A busy machine can stand still for many seconds. What fails once is repeated and listed as flaky; what fails twice fails the run.
  retries: 1,
  timeout: 180_000,
  expect: { timeout: 30_000 },
  forbidOnly: true,
  reporter: [['list']],
  use: {
    browserName: 'chromium',
    viewport: { width: 1280, height: 800 },
    locale: 'en-GB',
    timezoneId: 'UTC',
    actionTimeout: 60_000,
    trace: 'off',
    video: 'off',
    launchOptions: {
      executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
      args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
    },
  },
})
