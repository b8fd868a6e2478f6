import { checkPage, expectNoSideScroll } from './checkpage'
import { expect, noConsoleErrors, test } from './fixtures'

test.describe('without a session', () => {
  test.use({ storageState: { cookies: [], origins: [] } })

  test('a page leads to the sign-in page, which says how to get a link', async ({ page }) => {
    await page.goto('/segments?q=adults')
    await expect(page).toHaveURL(/\/sign-in\?next=/)
    await expect(page.getByRole('heading', { level: 1, name: 'Sign in' })).toBeVisible()
    await expect(page).toHaveTitle('Sign in · Guidon')
    await expect(page.getByRole('heading', { name: 'Sign in with a link' })).toBeVisible()
    await expectNoSideScroll(page)
    await checkPage(page, 'sign-in')
  })

  test('a link that is not valid', async ({ page }) => {
    await page.goto('/sign-in#link=nothing')
    await expect(page.getByText('This link was used already, has expired or is not valid. Ask for a new one.')).toBeVisible()
    expect(new URL(page.url()).hash).toBe('')
  })

  test('an error of the identity provider is told in words', async ({ page }) => {
    await page.goto('/sign-in?error=no-access')
    await expect(page.getByText('Your account has no access to Guidon. Ask an administrator.')).toBeVisible()
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
