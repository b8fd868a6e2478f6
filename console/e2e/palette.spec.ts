import { checkPage } from './checkpage'
import { expect, noConsoleErrors, test, unique } from './fixtures'

const name = 'Name of a flag, project, segment or page'

test('the command palette goes to flags, projects, segments and pages, and is loaded when it is opened', async ({ page, api }) => {
  const check = noConsoleErrors(page)
  const flag = unique('findable')
  const segment = unique('segment-to-find')
  await api('POST', '/api/admin/projects/default/features', { name: flag })
  await api('POST', '/api/admin/segments', { name: segment, constraints: [] })
  const loaded: string[] = []
  page.on('response', (response) => loaded.push(response.url()))
  await page.goto('/projects')
  await expect(page.getByRole('link', { name: 'Default' })).toBeVisible()
  expect(loaded.filter((url) => url.includes('palette'))).toEqual([])

  await page.keyboard.press('Control+k')
  await expect(page.getByRole('combobox', { name })).toBeFocused()
  expect(loaded.filter((url) => url.includes('palette'))).not.toEqual([])
  await checkPage(page, 'palette')
  await page.getByRole('combobox', { name }).fill(flag)
  await expect(page.getByRole('option', { name: flag }).first()).toContainText('Flag in default')
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(`/projects/default/flags/${flag}`)
  await expect(page.getByRole('dialog')).toHaveCount(0)

  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name }).fill(segment.slice(0, -1))
  await page.getByRole('option', { name: segment }).click()
  await expect(page.getByRole('heading', { level: 1, name: segment })).toBeVisible()

  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name }).fill('audit')
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL('/audit')

  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name }).fill('nothing like it')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Escape')
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await expect(page).toHaveURL('/audit')
  check()
})

test('what is typed while the palette is loaded is kept', async ({ page, api }) => {
  const flag = unique('typed-early')
  await api('POST', '/api/admin/projects/default/features', { name: flag })
  let load = () => {}
  const asked = new Promise<void>((resolve) => (load = resolve))
  await page.route(/palette[^/]*\.js$/, async (route) => {
    await asked
    await route.continue()
  })
  await page.goto('/projects')
  await expect(page.getByRole('link', { name: 'Default' })).toBeVisible()
  await page.keyboard.press('Control+k')
  await page.keyboard.type(flag.slice(0, 8))
  load()
  const field = page.getByRole('combobox', { name })
  await expect(field).toHaveValue(flag.slice(0, 8))
  await page.keyboard.type(flag.slice(8))
  await expect(field).toHaveValue(flag)
  await expect(page.getByRole('option', { name: flag }).first()).toContainText('Flag in default')
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(`/projects/default/flags/${flag}`)
})
