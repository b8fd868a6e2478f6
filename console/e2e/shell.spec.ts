import { checkPage } from './checkpage'
import { expect, noConsoleErrors, test, unique, openMore } from './fixtures'

test('the root leads to the projects', async ({ page }) => {
  const check = noConsoleErrors(page)
  await page.goto('/')
  await expect(page).toHaveURL('/projects')
  await expect(page.getByRole('heading', { level: 1, name: 'Projects' })).toBeVisible()
  await expect(page).toHaveTitle('Projects · Guidon')
  await expect(page.getByRole('link', { name: 'Default' })).toBeVisible()
  await checkPage(page, 'projects')
  check()
})

test('navigation moves the focus to the heading and sets the title', async ({ page }) => {
  await page.goto('/projects')
  // The focus stays where it is while the first page loads.
  await expect(page.getByRole('link', { name: 'Default' })).toBeVisible()
  const navigation = page.getByRole('navigation', { name: 'Main' })
  await navigation.getByRole('link', { name: 'Segments' }).click()
  await expect(page).toHaveURL('/segments')
  await expect(page).toHaveTitle('Segments · Guidon')
  await expect(page.getByRole('heading', { level: 1, name: 'Segments' })).toBeFocused()
  await expect(navigation.getByRole('link', { name: 'Segments' })).toHaveAttribute('aria-current', 'page')
  await page.goBack()
  await expect(page.getByRole('heading', { level: 1, name: 'Projects' })).toBeFocused()
})

test('the tabs of a project have URLs', async ({ page }) => {
  await page.goto('/projects/default/health')
  const tabs = page.getByRole('navigation', { name: 'Default', exact: true })
  await expect(tabs.getByRole('link', { name: 'Health' })).toHaveAttribute('aria-current', 'page')
  await expect(page).toHaveTitle('Health · Default · Guidon')
  await openMore(page, 'Access')
  await expect(page).toHaveURL('/projects/default/access')
  await expect(tabs.getByRole('button', { name: 'Access' })).toHaveAttribute('aria-current', 'page')
})

test('the skip link moves the focus to the content', async ({ page }) => {
  await page.goto('/projects')
  await expect(page.getByRole('heading', { level: 1, name: 'Projects' })).toBeVisible()
  await page.keyboard.press('Tab')
  const skip = page.getByRole('link', { name: 'Skip to content' })
  await expect(skip).toBeFocused()
  await expect(skip).toBeInViewport()
  await page.keyboard.press('Enter')
  await expect(page.locator('#content')).toBeFocused()
})

test('a chosen theme stays', async ({ page }) => {
  await page.emulateMedia({ colorScheme: 'light' })
  await page.goto('/projects')
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
  const light = await background()
  await page.getByRole('button', { name: 'Theme' }).click()
  await page.getByRole('menuitem', { name: 'Dark' }).click()
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark')
  expect(await background()).not.toBe(light)
  await page.reload()
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark')
  expect(await background()).not.toBe(light)
  await page.getByRole('button', { name: 'Theme' }).click()
  await page.getByRole('menuitem', { name: 'System' }).click()
  await expect(page.locator('html')).not.toHaveAttribute('data-theme')
  expect(await background()).toBe(light)
})

test('a URL without a page', async ({ page }) => {
  await page.goto('/nothing/here')
  await expect(page.getByRole('heading', { level: 1, name: 'Page not found' })).toBeVisible()
  await checkPage(page, 'not-found')
  await page.getByRole('link', { name: 'Go to the projects' }).click()
  await expect(page).toHaveURL('/projects')
})

test('an unknown project shows the message of the server', async ({ page }) => {
  await page.goto('/projects/no-such-project')
  await expect(page.getByRole('heading', { name: 'Not found' })).toBeVisible()
})

test('the navigation of a small window opens and closes', async ({ page }) => {
  await page.setViewportSize({ width: 360, height: 740 })
  await page.goto('/projects')
  const navigation = page.getByRole('navigation', { name: 'Main' })
  await expect(navigation).toBeHidden()
  await page.getByRole('button', { name: 'Open navigation' }).click()
  await expect(navigation).toBeVisible()
  await checkPage(page, 'navigation')
  await page.setViewportSize({ width: 360, height: 740 })
  await navigation.getByRole('button', { name: 'Administration' }).click()
  await navigation.getByRole('link', { name: 'Users' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Users' })).toBeFocused()
  await expect(navigation).toBeHidden()
})

test('the pages of a few times a year are below Administration', async ({ page }) => {
  await page.goto('/projects')
  await expect(page.getByRole('link', { name: 'Default' })).toBeVisible()
  const navigation = page.getByRole('navigation', { name: 'Main' })
  const toggle = navigation.getByRole('button', { name: 'Administration' })
  const roles = navigation.getByRole('link', { name: 'Roles' })
  await expect(toggle).toHaveAttribute('aria-expanded', 'false')
  await expect(roles).toBeHidden()
  // With the keyboard: the links follow the button.
  await toggle.focus()
  await page.keyboard.press('Enter')
  await expect(toggle).toHaveAttribute('aria-expanded', 'true')
  await page.keyboard.press('Tab')
  await expect(navigation.getByRole('link', { name: 'Environments' })).toBeFocused()
  await checkPage(page, 'administration')
  // It stays as it was left.
  await page.reload()
  await expect(roles).toBeVisible()
  await toggle.click()
  await page.reload()
  await expect(page.getByRole('link', { name: 'Default' })).toBeVisible()
  await expect(roles).toBeHidden()
  // On one of its pages it is open.
  await page.goto('/roles')
  await expect(roles).toHaveAttribute('aria-current', 'page')
  await expect(roles).toBeVisible()
  await navigation.getByRole('link', { name: 'Segments' }).click()
  await expect(roles).toBeHidden()
})

test('the header is low', async ({ page }) => {
  await page.goto('/projects')
  expect((await page.getByRole('banner').first().boundingBox())!.height).toBeLessThanOrEqual(40)
})

test('dates follow the choice of time zone and format, which stays', async ({ browser, server, session }) => {
  const context = await browser.newContext({ baseURL: server.url, storageState: session, timezoneId: 'Asia/Kolkata', locale: 'en-GB' })
  try {
    const page = await context.newPage()
    await page.goto('/audit')
    const time = page.getByRole('list', { name: 'Events' }).getByRole('time').last()
    await expect(time).toHaveAttribute('title', /^\d+ \w+ \d{4}, \d\d:\d\d:\d\d GMT\+5:30$/)
    const at = (await time.getAttribute('datetime'))!
    await page.getByRole('button', { name: /^Account of/ }).click()
    await page.getByRole('menuitem', { name: 'Times in UTC' }).click()
    await page.getByRole('button', { name: /^Account of/ }).click()
    await page.getByRole('menuitem', { name: '(ISO)' }).click()
    const utc = `${at.slice(0, 10)} ${at.slice(11, 19)} UTC`
    await expect(time).toHaveAttribute('title', utc)
    await page.reload()
    await expect(time).toHaveAttribute('title', utc)
    await page.getByRole('button', { name: /^Account of/ }).click()
    await expect(page.getByRole('menuitem', { name: 'Times in UTC (chosen)' })).toBeVisible()
  } finally {
    await context.close()
  }
})

test('the project switcher opens a project', async ({ page }) => {
  await page.goto('/segments')
  await page.getByRole('button', { name: 'Project: All projects' }).click()
  await page.getByRole('menuitem', { name: 'Default' }).click()
  await expect(page).toHaveURL('/projects/default')
  await expect(page.getByRole('button', { name: 'Project: Default' })).toBeVisible()
})

test('the banner tells that the server cannot be reached', async ({ page, context }) => {
  await page.goto('/projects')
  await expect(page.getByRole('link', { name: 'Default' })).toBeVisible()
  await context.setOffline(true)
  await expect(page.getByText('The server cannot be reached. This page may be out of date.')).toBeVisible()
  await context.setOffline(false)
  await expect(page.getByText('The server cannot be reached. This page may be out of date.')).toBeHidden()
})

test('a message covers no control of a short page, and in narrow windows none of the bar', async ({ page, api }) => {
  const flag = unique('messages')
  await api('POST', '/api/admin/projects/default/features', { name: flag })
  await api('POST', `/api/admin/projects/default/features/${flag}/environments/development/strategies`, { name: 'default' })
  await page.goto(`/projects/default?q=${flag}`)
  await page.getByRole('switch', { name: `${flag} in development` }).click()
  const messages = page.getByRole('region', { name: 'Messages' })
  // It stays while it has the focus.
  await messages.getByRole('button', { name: 'Undo' }).focus()
  for (const [width, part] of [
    [1600, 'body'],
    [1280, 'body'],
    [1180, 'body'],
    [1000, 'body'],
    [900, 'body'],
    [640, 'header.bar'],
    [360, 'header.bar'],
  ] as const) {
    await page.setViewportSize({ width, height: 800 })
    await expect(messages.getByText(flag)).toBeInViewport({ ratio: 1 })
    const covered = await page.locator(part).evaluate((element) => {
      const message = document.querySelector('.toast')!.getBoundingClientRect()
      const controls = [...element.querySelectorAll<HTMLElement>('a, button, input, select, [role="switch"]')].filter((one) => !one.closest('.toasts'))
      return controls
        .filter((one) => {
          const box = one.getBoundingClientRect()
          return box.width * box.height > 1 && box.left < message.right && box.right > message.left && box.top < message.bottom && box.bottom > message.top
        })
        .map((one) => one.outerHTML.slice(0, 100))
    })
    expect(covered, `at ${width} px`).toEqual([])
  }
})

test('a name that a narrow window cuts has a tooltip with all of it', async ({ page, api }) => {
  const short = unique('short')
  const long = unique(`long-${'name-of-a-flag-'.repeat(5)}`)
  const project = unique('p')
  await api('POST', '/api/admin/projects', { id: project, name: `The project of ${long}` })
  for (const name of [short, long]) await api('POST', `/api/admin/projects/${project}/features`, { name })
  await page.setViewportSize({ width: 920, height: 800 })
  await page.goto(`/projects/${project}`)
  const link = (name: string) => page.getByRole('table').getByRole('link', { name })
  await page.setViewportSize({ width: 420, height: 800 })
  // A hover before the page has its new width finds another name, or none that is cut.
  await expect(async () => {
    await link(short).hover()
    await link(long).hover()
    await expect(page.getByTitle(long, { exact: true })).toHaveText(long, { timeout: 1000 })
  }).toPass()
  await expect(page.getByTitle(short, { exact: true })).toHaveCount(0)
  await page.setViewportSize({ width: 920, height: 800 })
  await expect(async () => {
    await page.mouse.move(0, 0)
    await page.getByRole('navigation', { name: 'Main' }).getByText(`The project of ${long}`).hover()
    await expect(page.getByTitle(`The project of ${long}`, { exact: true })).toBeVisible({ timeout: 1000 })
  }).toPass()
})
