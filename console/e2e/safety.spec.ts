// What keeps a person from changing production, or from losing input, by accident.
import { checkPage } from './checkpage'
import { type Api, expect, hide, noConsoleErrors, test, undo, unique } from './fixtures'

async function newProject(api: Api, flags: string[] = [], environments?: string[]) {
  const id = unique('shop')
  await api('POST', '/api/admin/projects', { id, name: id, environments })
  for (const name of flags) await api('POST', `/api/admin/projects/${id}/features`, { name, description: `What ${name} is for` })
  return id
}

const inEnvironment = (id: string, flag: string, environment: string) => `/api/admin/projects/${id}/features/${flag}/environments/${environment}`

async function switchedOn(api: Api, id: string, flag: string, environment: string) {
  await api('POST', `${inEnvironment(id, flag, environment)}/strategies`, { name: 'default' })
  await api('POST', `${inEnvironment(id, flag, environment)}/on`)
}

const isOn = async (api: Api, id: string, flag: string, environment: string) => (await api('GET', inEnvironment(id, flag, environment))).enabled as boolean

test('a wide list keeps the name in view, names it in full, marks production, and keeps the chosen columns', async ({ page, api }) => {
  const check = noConsoleErrors(page)
  const environments: string[] = []
  for (let index = 0; index < 9; index++) {
    const name = unique(`stage-${index}`)
    await api('POST', '/api/admin/environments', { name, type: index === 8 ? 'production' : 'test' })
    environments.push(name)
  }
  const flag = unique('a-flag-with-a-name-that-is-much-longer-than-its-column-can-be')
  const id = await newProject(api, [flag], [...environments, 'production'])
  await page.goto(`/projects/${id}`)
  const table = page.getByRole('table', { name: `Flags of ${id}` })
  const link = table.getByRole('link', { name: flag })
  await expect(link).toBeVisible()
  await page.locator('.table-box').evaluate((box) => box.scrollBy(5000, 0))
  await expect(table.getByRole('columnheader', { name: 'Last used' })).toBeInViewport()
  await expect(link).toBeInViewport({ ratio: 0.5 })
  await expect(async () => {
    await page.mouse.move(0, 0)
    await link.hover()
    await expect(page.locator('.tooltip')).toContainText(`What ${flag} is for`, { timeout: 2000 })
  }).toPass()
  await expect(page.locator('.tooltip')).toContainText(flag)
  await page.mouse.move(0, 0)
  await expect(table.getByRole('columnheader', { name: 'production' })).toContainText('Prod')
  await expect(table.getByRole('columnheader', { name: environments[8] })).toContainText('Prod')
  await expect(table.getByRole('columnheader', { name: environments[0] })).not.toContainText('Prod')
  await checkPage(page, 'flags-wide')

  const columns = page.getByRole('button', { name: 'Columns' })
  await columns.click({ delay: 500 }) // some people press long
  await expect(page.getByRole('menuitem', { name: 'production' })).toContainText('Prod')
  await page.getByRole('menuitem', { name: 'Last used' }).click()
  await expect(table.getByRole('columnheader', { name: 'Last used' })).toHaveCount(0)
  await page.reload()
  await expect(link).toBeVisible()
  await expect(page.locator('[aria-busy="true"], .loading')).toHaveCount(0)
  await expect(table.getByRole('columnheader', { name: 'Last used' })).toHaveCount(0)
  await columns.click()
  await page.getByRole('menuitem', { name: 'Last used' }).click()
  await expect(table.getByRole('columnheader', { name: 'Last used' })).toHaveCount(1)
  check()
})

test('a switch in production asks, says what it did, and has Undo, in the list and on the page of the flag', async ({ page, api }) => {
  const check = noConsoleErrors(page)
  const flag = unique('checkout')
  const id = await newProject(api, [flag])
  await switchedOn(api, id, flag, 'production')
  await switchedOn(api, id, flag, 'development')
  const messages = page.getByRole('region', { name: 'Messages' })
  for (const path of [`/projects/${id}`, `/projects/${id}/flags/${flag}`]) {
    await page.goto(path)
    const production = page.getByRole('switch', { name: `${flag} in production` })
    await production.click()
    const dialog = page.getByRole('dialog', { name: `Switch ${flag} off in production?` })
    await expect(dialog).toContainText('Applications follow with their next request.')
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await expect(production).toBeChecked()
    expect(await isOn(api, id, flag, 'production')).toBe(true)

    await production.click()
    await dialog.getByRole('button', { name: 'Switch off' }).click()
    await expect(messages.getByText(`${flag} is off in production`)).toBeVisible()
    await expect(production).not.toBeChecked()
    await expect.poll(() => isOn(api, id, flag, 'production')).toBe(false)
    await undo(page)
    await expect(production).toBeChecked()
    expect(await isOn(api, id, flag, 'production')).toBe(true)

    await page.getByRole('switch', { name: `${flag} in development` }).click()
    await expect(messages.getByText(`${flag} is off in development`)).toBeVisible()
    await expect(page.getByRole('dialog')).toHaveCount(0)
    await messages.getByRole('button', { name: 'Undo' }).click()
    await expect(page.getByRole('switch', { name: `${flag} in development` })).toBeChecked()
  }
  check()
})

test('a switch of several flags in production asks with what is stored, and Undo takes back only what it changed', async ({ page, api }) => {
  const [first, second, third] = [unique('checkout'), unique('checkout'), unique('checkout')]
  const id = await newProject(api, [first, second, third])
  await page.goto(`/projects/${id}`)
  await page.getByRole('checkbox', { name: 'Select all shown flags' }).check()
  await hide(page)
  await switchedOn(api, id, first, 'production')
  const ask = async () => {
    await page.getByRole('button', { name: 'Switch off' }).click()
    await page.getByRole('menuitem', { name: /^production/ }).click()
  }
  await ask()
  const dialog = page.getByRole('dialog', { name: 'Switch 1 flag off in production?' })
  await expect(dialog).toContainText('1 of 3 flags will be switched off; 2 are off already.')
  await expect(dialog).toContainText(first)

  // Others change it while it asks.
  await switchedOn(api, id, second, 'production')
  await api('POST', `/api/admin/projects/${id}/features/${first}/environments/production/off`)
  await dialog.getByRole('button', { name: 'Switch off' }).click()
  await expect(dialog).toContainText('Someone changed these flags in production just now, so nothing was done.')
  expect(await isOn(api, id, second, 'production')).toBe(true)
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await ask()
  await expect(dialog).toContainText(second)
  await dialog.getByRole('button', { name: 'Switch off' }).click()
  await undo(page, '1 flag switched off in production; 2 were off already')
  expect(await Promise.all([first, second, third].map((flag) => isOn(api, id, flag, 'production')))).toEqual([false, true, false])
})

test('an environment of type production need not ask', async ({ page, api }) => {
  const environment = unique('live')
  await api('POST', '/api/admin/environments', { name: environment, type: 'production' })
  const flag = unique('checkout')
  const id = await newProject(api, [flag], [environment])
  await switchedOn(api, id, flag, environment)
  await page.goto('/environments')
  const asks = page.getByRole('switch', { name: `Ask before changes in ${environment}` })
  await expect(asks).toBeChecked()
  await expect(page.getByRole('switch', { name: 'Ask before changes in development' })).toHaveCount(0)
  await asks.click()
  await page.goto(`/projects/${id}/flags/${flag}`)
  await page.getByRole('button', { name: `Edit strategy in ${environment}` }).click()
  await expect(page.getByRole('dialog').getByRole('button', { name: 'Save strategy', exact: true })).toBeVisible()
  await expect(page.getByRole('dialog')).not.toContainText('Applications follow with their next request.')
  await page.goto(`/projects/${id}`)
  await page.getByRole('switch', { name: `${flag} in ${environment}` }).click()
  await expect(page.getByRole('region', { name: 'Messages' }).getByText(`${flag} is off in ${environment}`)).toBeVisible()
  await page.goto('/environments')
  await expect(asks).not.toBeChecked()
  await asks.click()
  await page.goto(`/projects/${id}`)
  await page.getByRole('switch', { name: `${flag} in ${environment}` }).click()
  await expect(page.getByRole('dialog', { name: `Switch ${flag} on in ${environment}?` })).toBeVisible()
})

test('archiving a flag says that production uses it', async ({ page, api }) => {
  const flag = unique('checkout')
  const id = await newProject(api, [flag])
  await switchedOn(api, id, flag, 'production')
  await page.goto(`/projects/${id}/flags/${flag}`)
  await page.getByRole('button', { name: 'Actions', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Archive' }).click()
  const dialog = page.getByRole('dialog', { name: `Archive ${flag}?` })
  await expect(dialog).toContainText('The flag is on in production.')
  await expect(dialog.getByRole('listitem')).toContainText('On in production Prod · not used yet')
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  expect(await isOn(api, id, flag, 'production')).toBe(true)
})

test('Escape keeps the segments of a strategy, and Back asks before a changed strategy is left', async ({ page, api }) => {
  const flag = unique('checkout')
  const id = await newProject(api, [flag])
  const segment = unique('Beta users')
  await api('POST', '/api/admin/segments', { name: segment, constraints: [] })
  await page.goto(`/projects/${id}/flags/${flag}`)
  await page.getByRole('button', { name: 'Add strategy in development' }).click()
  const dialog = page.getByRole('dialog', { name: 'Add strategy in development' })
  const segments = dialog.getByRole('combobox', { name: 'Segments' })
  await segments.fill(segment)
  await page.getByRole('option', { name: segment }).click()
  const chip = dialog.getByRole('button', { name: `Remove ${segment}` })
  await expect(chip).toBeVisible()
  await dialog.getByRole('button', { name: 'Add constraint' }).click()
  const field = dialog.getByRole('combobox', { name: 'Context field' })
  await field.fill('userId')
  const discard = page.getByRole('dialog', { name: 'Discard your changes?' })
  // Without an open list Escape means the dialog, which asks.
  for (const input of [field, segments]) {
    await input.press('Escape')
    await discard.getByRole('button', { name: 'Keep editing' }).click()
    await expect(discard).toBeHidden()
    await expect(chip).toBeVisible()
    await expect(field).toHaveValue('userId')
  }

  await page.goBack()
  await expect(discard).toBeVisible()
  await discard.getByRole('button', { name: 'Keep editing' }).click()
  await expect(chip).toBeVisible()
  await page.goBack()
  await discard.getByRole('button', { name: 'Discard' }).click()
  await expect(dialog).toBeHidden()
  await expect(page).toHaveURL(`/projects/${id}/flags/${flag}`)
})

test('the first click on Create segment counts while a value is being typed', async ({ page, api }) => {
  const name = unique('typed')
  await page.goto('/segments/new')
  await page.getByRole('textbox', { name: /^Name/ }).fill(name)
  await page.getByRole('combobox', { name: 'Context field' }).fill('user')
  await page.getByRole('option', { name: /^userId/ }).click()
  await page.getByRole('combobox', { name: 'Values' }).fill('a, b, c')
  // A person releases the button later than a click of a script does.
  await page.getByRole('button', { name: 'Create segment' }).hover()
  await page.mouse.down()
  await expect(page.getByRole('combobox', { name: 'Values' })).not.toBeFocused()
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))))
  await page.mouse.up()
  await expect(page.getByRole('heading', { level: 1, name })).toBeVisible()
  const id = Number(/\d+$/.exec(page.url())![0])
  expect((await api('GET', `/api/admin/segments/${id}`)).constraints[0].values).toEqual(['a', 'b', 'c'])
})

test('leaving a page with input that is not saved asks', async ({ page }) => {
  const name = unique('typed')
  await page.goto('/segments')
  await page.getByRole('button', { name: 'Create segment' }).first().click()
  await page.getByRole('textbox', { name: /^Name/ }).fill(name)
  const navigation = page.getByRole('navigation', { name: 'Main' })
  await navigation.getByRole('link', { name: 'Applications' }).click()
  const discard = page.getByRole('dialog', { name: 'Discard your changes?' })
  await discard.getByRole('button', { name: 'Keep editing' }).click()
  await expect(page.getByRole('textbox', { name: /^Name/ })).toHaveValue(name)
  await page.getByRole('combobox', { name: 'Context field' }).fill('user')
  await page.getByRole('option', { name: /^userId/ }).click()
  await page.getByRole('combobox', { name: 'Values' }).fill('a')
  await page.getByRole('button', { name: 'Create segment' }).click()
  await expect(page.getByRole('heading', { level: 1, name })).toBeVisible()
  await navigation.getByRole('link', { name: 'Applications' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Applications' })).toBeVisible()
})

test('every way out of a dialog with input asks, and keeps the input', async ({ page, api }) => {
  const check = noConsoleErrors(page)
  const flag = unique('checkout')
  const id = await newProject(api, [flag])
  const discard = page.getByRole('dialog', { name: 'Discard your changes?' })
  for (const [path, button, field] of [
    ['/', 'Create project', 'Name'],
    [`/projects/${id}`, 'Create flag', 'Name'],
    ['/users', 'Invite', 'Name'],
    [`/projects/${id}/flags/${flag}`, 'Add strategy in production', 'Title'],
  ] as const) {
    await page.goto(path)
    await page.getByRole('button', { name: button }).first().click()
    const dialog = page.getByRole('dialog', { name: button })
    const input = dialog.getByRole('textbox', { name: new RegExp(`^${field}`) }).first()
    // Without input nothing is lost.
    await expect(input).toBeVisible()
    await page.keyboard.press('Escape')
    await expect(dialog).toBeHidden()
    await page.getByRole('button', { name: button }).first().click()
    await input.fill('typed')
    await page.mouse.click(5, 5)
    for (const leave of [
      () => page.keyboard.press('Escape'),
      () => dialog.getByRole('button', { name: 'Close', exact: true }).click(),
      () => dialog.getByRole('button', { name: 'Cancel' }).click(),
    ]) {
      await input.focus()
      await leave()
      await expect(discard.getByRole('button', { name: 'Keep editing' })).toBeFocused()
      await page.keyboard.press('Enter')
      await expect(discard).toBeHidden()
      await expect(input).toHaveValue('typed')
    }
    await page.keyboard.press('Escape')
    await discard.getByRole('button', { name: 'Discard' }).click()
    await expect(dialog).toBeHidden()
    await page.getByRole('button', { name: button }).first().click()
    await expect(input).toHaveValue('')
    // Input that is taken back is no input.
    await input.fill('a')
    await input.fill('')
    await page.keyboard.press('Escape')
    await expect(dialog).toBeHidden()
    await expect(discard).toBeHidden()
  }
  check()
})

test('a form that is open when the session ends keeps its input', async ({ browser, api, server }) => {
  const user = unique('eva')
  const { id } = await api('POST', '/api/admin/user-admin', { name: user, username: user, rootRole: 1 })
  const link = async () => (await api('POST', `/api/admin/user-admin/${id}/sign-in-link`)).url as string
  const flag = unique('checkout')
  const project = await newProject(api, [flag])
  const context = await browser.newContext({ baseURL: server.url, storageState: { cookies: [], origins: [] } })
  try {
    const page = await context.newPage()
    await page.goto(await link())
    await expect(page.getByRole('heading', { level: 1, name: 'Projects' })).toBeVisible()
    await page.goto(`/projects/${project}/flags/${flag}`)
    await page.getByRole('button', { name: 'Add strategy in development' }).click()
    const dialog = page.getByRole('dialog', { name: 'Add strategy in development' })
    await dialog.getByRole('textbox', { name: 'Title' }).fill('Everyone in the north')
    await api('POST', `/api/admin/user-admin/${id}/sign-out`)
    await dialog.getByRole('button', { name: 'Add strategy' }).click()
    await expect(page.getByText('Your session has ended. Sign in again in another tab, then save here: your input is kept.')).toBeVisible()
    const opened = context.waitForEvent('page')
    await page.getByRole('region', { name: 'Messages' }).getByRole('button', { name: 'Sign in' }).click()
    const other = await opened
    await expect(other.getByRole('heading', { level: 1, name: 'Sign in' })).toBeVisible()
    await other.goto(await link())
    await expect(other.getByRole('heading', { level: 1, name: 'Projects' })).toBeVisible()
    await expect(dialog.getByRole('textbox', { name: 'Title' })).toHaveValue('Everyone in the north')
    await dialog.getByRole('button', { name: 'Add strategy' }).click()
    await expect(dialog).toBeHidden()
    await expect(page.getByRole('article', { name: 'Strategy 1: Everyone in the north' })).toBeVisible()
  } finally {
    await context.close()
  }
})

test('an open page shows what others change', async ({ page, api }) => {
  const [flag, later] = ['early', 'later'].map(unique) as [string, string]
  const id = await newProject(api, [flag])
  await switchedOn(api, id, flag, 'development')
  await page.goto(`/projects/${id}`)
  const switched = page.getByRole('switch', { name: `${flag} in development` })
  await expect(switched).toBeChecked()
  await api('POST', `/api/admin/projects/${id}/features`, { name: later })
  await api('POST', `${inEnvironment(id, flag, 'development')}/off`)
  await expect(page.getByRole('link', { name: later })).toBeVisible({ timeout: 30_000 })
  await expect(switched).not.toBeChecked()
  await page.goto(`/projects/${id}/flags/${flag}`)
  await expect(switched).not.toBeChecked()
  await api('POST', `${inEnvironment(id, flag, 'development')}/on`)
  await expect(switched).toBeChecked({ timeout: 30_000 })
})
