import { checkPage, expectNoSideScroll } from './checkpage'
import { expect, noConsoleErrors, test, unique } from './fixtures'

test.describe('without a session', () => {
  test.use({ storageState: { cookies: [], origins: [] } })

  test('a page leads to the sign-in page, which says how to get a link', async ({ page }) => {
    await page.goto('/segments?q=adults')
    await expect(page).toHaveURL(/\/sign-in\?next=/)
    await expect(page.getByRole('heading', { level: 1, name: 'Sign in' })).toBeVisible()
    await expect(page).toHaveTitle('Sign in · Guidon')
    await expect(page.getByText('Open the link that an administrator sent you.')).toBeVisible()
    await expectNoSideScroll(page)
    await checkPage(page, 'sign-in')
  })

  test('a link that is not valid', async ({ page }) => {
    await page.goto('/sign-in#link=nothing')
    await expect(page.getByText('This link was used already, has expired or is not valid. Ask for a new one.')).toBeVisible()
    expect(new URL(page.url()).hash).toBe('')
  })
})

test('the account is named, and no secret stays in the address', async ({ page }) => {
  const check = noConsoleErrors(page)
  await page.goto('/projects')
  await page.getByRole('button', { name: /^Account of / }).click()
  await expect(page.getByRole('menuitem', { name: 'Profile' })).toBeVisible()
  await expect(page.getByRole('menuitem', { name: 'Sign out' })).toBeVisible()
  check()
})

test('a link for another user asks before it replaces the session', async ({ page, api }) => {
  const name = unique('ivo')
  const { id } = await api('POST', '/api/admin/user-admin', { name, username: name, rootRole: 2 })
  const { url } = await api('POST', `/api/admin/user-admin/${id}/sign-in-link`)
  await page.goto(url)
  await expect(page.getByText('Another person is signed in to this browser.')).toBeVisible()
  await page.getByRole('button', { name: 'Stay signed in' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Projects' })).toBeVisible()
  await page.goto('/sign-in')
  await page.evaluate((hash) => (location.hash = hash), new URL(url).hash)
  await page.getByRole('button', { name: 'Sign in with the link' }).click()
  await expect(page.getByRole('button', { name: new RegExp(`^Account of ${name}`) })).toBeVisible()
})

test('a tab whose session has ended elsewhere leads to the sign-in page, and a link opened there signs in', async ({ browser, api, server }) => {
  const name = unique('eva')
  const { id } = await api('POST', '/api/admin/user-admin', { name, username: name, rootRole: 2 })
  const link = async () => (await api('POST', `/api/admin/user-admin/${id}/sign-in-link`)).url
  const context = await browser.newContext({ baseURL: server.url, storageState: { cookies: [], origins: [] } })
  try {
    const page = await context.newPage()
    await page.goto(await link())
    await page.getByRole('link', { name: 'Segments' }).click()
    await expect(page.getByRole('heading', { level: 1, name: 'Segments' })).toBeVisible()
    await api('POST', `/api/admin/user-admin/${id}/sign-out`)

    // The page reads again within ten seconds, and notices.
    await expect(page.getByText('Your session has ended. Sign in again.')).toBeVisible()
    await expect(page).toHaveURL(/\/sign-in\?.*next=%2Fsegments/)
    let refused = 0
    page.on('response', (response) => (refused += response.status() === 401 ? 1 : 0))
    await expect(page.getByText('Open the link that an administrator sent you.')).toBeVisible()
    expect(refused).toBeLessThan(10)

    const again = await link()
    await page.evaluate((hash) => (location.hash = hash), new URL(again).hash)
    await expect(page.getByRole('heading', { level: 1, name: 'Segments' })).toBeVisible()
    expect(new URL(page.url()).hash).toBe('')

    await page.getByRole('button', { name: /^Account of / }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await expect(page.getByRole('heading', { level: 1, name: 'Sign in' })).toBeVisible()
    await page.reload()
    await expect(page.getByRole('heading', { level: 1, name: 'Sign in' })).toBeVisible()
  } finally {
    await context.close()
  }
})
