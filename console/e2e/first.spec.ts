import { checkPage } from './checkpage'
import { expect, test } from './fixtures'
import { startServer } from './server'

// Each request is a call of a function on AWS.
const mostRequests = 15
const mostBytes = 250 * 1024

test('the first page takes few requests and bytes, with the font', async ({ page }) => {
  const session = await page.context().newCDPSession(page)
  await session.send('Network.enable')
  const paths = new Map<string, string>()
  const bytes: [path: string, length: number][] = []
  session.on('Network.requestWillBeSent', ({ requestId, request }) => paths.set(requestId, new URL(request.url).pathname))
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => bytes.push([paths.get(requestId) ?? '', encodedDataLength]))
  await page.goto('/projects')
  await expect(page.getByRole('table', { name: 'Projects' }).getByRole('link').first()).toBeVisible()
  await page.waitForLoadState('networkidle')
  expect(await page.evaluate(() => document.fonts.check('14px Inter'))).toBe(true)
  expect(paths.size, [...paths.values()].join('\n')).toBeLessThanOrEqual(mostRequests)
  // The size of the API's data depends on what other tests have made.
  const files = bytes.filter(([path]) => !path.startsWith('/api/'))
  expect(
    files.reduce((sum, [, length]) => sum + length, 0),
    files.join('\n'),
  ).toBeLessThanOrEqual(mostBytes)
})

test('an empty service begins with the first flag, in two clicks; then the first page says what changed in production today', async ({ browser }) => {
  const server = await startServer()
  const context = await browser.newContext({ baseURL: server.url, storageState: { cookies: [], origins: [] } })
  try {
    const page = await context.newPage()
    await page.goto(server.link!)
    await expect(page.getByRole('heading', { name: 'Release your first feature' })).toBeVisible()
    await checkPage(page, 'projects-empty')
    await page.getByRole('link', { name: 'Create flag' }).click()
    const dialog = page.getByRole('dialog', { name: 'Create flag' })
    await dialog.getByRole('textbox', { name: 'Name' }).fill('first-flag')
    await dialog.getByRole('button', { name: 'Create flag' }).click()
    await expect(page).toHaveURL('/projects/default/flags/first-flag')
    const production = '/api/admin/projects/default/features/first-flag/environments/production'
    for (const path of [`${production}/strategies`, `${production}/on`]) {
      const body = path.endsWith('on') ? undefined : JSON.stringify({ name: 'default' })
      const response = await fetch(server.url + path, {
        method: 'POST',
        headers: { Authorization: server.adminToken!, ...(body && { 'Content-Type': 'application/json' }) },
        body,
      })
      expect(response.ok).toBe(true)
    }
    await page.goto('/projects')
    const today = page.getByRole('complementary', { name: 'About Projects' })
    await expect(today).toContainText('Changed in production today')
    await expect(today.getByRole('listitem').first()).toContainText('first-flagSwitched on')
    await expect(page.getByRole('heading', { name: 'Release your first feature' })).toHaveCount(0)
    await checkPage(page, 'projects-today')
  } finally {
    await context.close()
    await server.stop()
  }
})
