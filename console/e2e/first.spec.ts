import { expect, test } from './fixtures'

// Each request is a call of a function on AWS.
const mostRequests = 15
const mostBytes = 250 * 1024

test('the first page takes few requests and bytes, with the font', async ({ page }) => {
  const session = await page.context().newCDPSession(page)
  await session.send('Network.enable')
  let bytes = 0
  const data = new Set<string>() // of the API, whose size depends on what other tests have made
  session.on('Network.requestWillBeSent', ({ requestId, request }) => request.url.includes('/api/') && data.add(requestId))
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => (bytes += data.has(requestId) ? 0 : encodedDataLength))
  const requests: string[] = []
  page.on('request', (request) => requests.push(new URL(request.url()).pathname))
  await page.goto('/projects')
  await expect(page.getByRole('table', { name: 'Projects' }).getByRole('link').first()).toBeVisible()
  await page.waitForLoadState('networkidle')
  expect(await page.evaluate(() => document.fonts.check('14px Inter'))).toBe(true)
  expect(requests.length, requests.join('\n')).toBeLessThanOrEqual(mostRequests)
  expect(bytes, requests.join('\n')).toBeLessThanOrEqual(mostBytes)
})
