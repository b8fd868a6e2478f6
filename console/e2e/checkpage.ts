import { AxeBuilder } from '@axe-core/playwright'
import { expect, type Page } from '@playwright/test'
import { fileURLToPath } from 'node:url'

const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']

/**
 * Checks that everyone can use a page: axe in light, in dark and at 360 px, and no horizontal scrolling of the document at 360 px.
 * SCREENSHOTS=1 takes a screenshot of each. Wait for the content of the page before it. The page is then as before, with the theme of
 * the system.
 */
export async function checkPage(page: Page, name: string) {
  const size = page.viewportSize() ?? { width: 1280, height: 800 }
  await expect(page.locator('[aria-busy="true"], .loading')).toHaveCount(0)
  for (const theme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' })
    await screenshot(page, `${name}-${theme}`)
    await expectAccessible(page, `${name} in ${theme}`, theme === 'dark' ? colors : {})
  }
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
  await page.setViewportSize({ width: 360, height: 740 })
  await expectNoSideScroll(page)
  await screenshot(page, `${name}-360`)
  await expectAccessible(page, `${name} at 360 px`)
  await page.setViewportSize(size)
}

// The dark theme changes only colors, so the other rules find there what they find in the light one.
const colors = { runOnly: ['color-contrast', 'link-in-text-block'] }

/** Runs axe with the rules of WCAG 2.2 AA, or only those that are named. */
export async function expectAccessible(page: Page, what: string, { runOnly }: { runOnly?: string[] } = {}) {
  // The header sticks to the top of the window. Anywhere else, axe would measure its distance to whatever has scrolled below it.
  await page.evaluate(() => window.scrollTo(0, 0))
  const { violations } = await (runOnly ? new AxeBuilder({ page }).withRules(runOnly) : new AxeBuilder({ page }).withTags(rules)).analyze()
  const found = violations.map(({ id, help, nodes }) => ({
    id,
    help,
    nodes: nodes.slice(0, 5).map((node) => `${node.target.join(' ')}: ${node.failureSummary}`),
  }))
  expect(found, `axe: ${what}`).toEqual([])
}

/** Checks that the document fits the width of the window. */
export async function expectNoSideScroll(page: Page) {
  await expect
    .poll(() => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), {
      message: 'horizontal scrolling of the document',
    })
    .toBeLessThanOrEqual(0)
}

async function screenshot(page: Page, name: string) {
  if (!process.env.SCREENSHOTS) return
  await page.screenshot({ path: fileURLToPath(new URL(`screenshots/${name}.png`, import.meta.url)), animations: 'disabled' })
}
