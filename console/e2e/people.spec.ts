import type { Locator, Page } from '@playwright/test'
import { checkPage } from './checkpage'
import { expect, noConsoleErrors, pick, test, type Api, unique } from './fixtures'

/** The id of a role. */
async function roleOf(api: Api, name: string) {
  const { roles } = await api<{ roles: { id: number; name: string }[] }>('GET', '/api/admin/roles')
  return roles.find((role) => role.name === name)!.id
}

/** Creates a user with a role, and returns the address that signs the user in. */
async function userWithLink(api: Api, name: string, rootRole: number) {
  const { id } = await api('POST', '/api/admin/user-admin', { name, email: `${name}@example.com`, rootRole })
  return (await api('POST', `/api/admin/user-admin/${id}/sign-in-link`)).url as string
}

const secretIn = async (dialog: Locator) => (await dialog.locator('code').first().innerText()).trim()

/** The menu of a row, by its name. */
async function choose(page: Page, name: string, entry: string) {
  await page.getByRole('button', { name: `Actions for ${name}` }).click()
  await page.getByRole('menuitem', { name: entry }).click()
}

test('the pages', async ({ page, api }) => {
  const check = noConsoleErrors(page)
  const username = unique('robot')
  await userWithLink(api, username, 2)
  await api('POST', '/api/admin/service-account', { name: username, username, rootRole: 2 })
  const pages: [path: string, ready: Locator][] = [
    ['/users', page.getByRole('cell', { name: username, exact: true })],
    ['/roles', page.getByRole('link', { name: 'Owner' })],
    ['/roles/new', page.getByRole('table', { name: 'Permissions: In environments' })],
    ['/service-accounts', page.getByRole('button', { name: `Tokens of ${username}` })],
    ['/tokens?create=true', page.getByRole('dialog', { name: 'Create API token' })],
    ['/tokens', page.getByRole('table', { name: 'API tokens' })],
    ['/projects/default/tokens', page.getByRole('heading', { name: 'No API tokens yet' }).or(page.getByRole('table', { name: 'API tokens' }))],
    ['/profile', page.getByRole('heading', { name: 'Personal tokens', exact: true })],
  ]
  for (const [path, ready] of pages) {
    await page.goto(path)
    await expect(ready).toBeVisible()
    await checkPage(page, path.replace(/\W+/g, '-').slice(1))
  }
  check()
})

test('a token for an SDK is created, works, and stops working when it is deleted', async ({ page, server }) => {
  const name = unique('shop backend')
  await page.goto('/tokens')
  await page.getByRole('button', { name: 'Create token' }).click()
  const dialog = page.getByRole('dialog', { name: 'Create API token' })
  await dialog.getByRole('textbox', { name: 'Name' }).fill(name)
  await pick(dialog.getByRole('combobox', { name: 'Environment' }), 'production')
  await dialog.getByRole('button', { name: 'Create token' }).click()
  const created = page.getByRole('dialog', { name: `Token ${name}` })
  const secret = await secretIn(created)
  expect(secret).toMatch(/^\*:production\./)
  await created.getByRole('button', { name: 'Done' }).click()
  await expect(page.getByRole('row', { name: new RegExp(name) })).toContainText('production')

  const read = async () => (await fetch(`${server.url}/api/client/features`, { headers: { Authorization: secret } })).status
  expect(await read()).toBe(200)
  await choose(page, name, 'Delete')
  const confirm = page.getByRole('dialog', { name: `Delete token ${name}?` })
  await confirm.getByRole('textbox').fill(name)
  await confirm.getByRole('button', { name: 'Delete token' }).click()
  await expect(confirm).toBeHidden() // rows behind an open dialog have no role
  await expect(page.getByRole('row', { name: new RegExp(name) })).toHaveCount(0)
  expect(await read()).toBe(401)
})

test('a user is created with a sign-in link, changed and deleted', async ({ page, browser, server }) => {
  const name = unique('bob')
  await page.goto('/users')
  await page.getByRole('button', { name: 'Invite' }).click()
  const dialog = page.getByRole('dialog', { name: 'Invite a person' })
  await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill(name)
  await dialog.getByRole('button', { name: 'Invite' }).click()
  await expect(dialog.getByText('A user needs an email address or a user name.')).toBeVisible()
  await dialog.getByRole('textbox', { name: 'Email address' }).fill(`${name}@example.com`)
  await dialog.getByRole('button', { name: 'Invite' }).click()
  const shown = page.getByRole('dialog', { name: `Sign-in link for ${name}` })
  await expect(shown).toContainText('within 7 days')
  await shown.getByRole('button', { name: 'Done' }).click()
  await expect(page.getByRole('row', { name: new RegExp(name) })).toContainText('Viewer')
  await page
    .getByRole('row', { name: new RegExp(name) })
    .getByRole('button', { name: 'New link…' })
    .click()
  await page
    .getByRole('dialog', { name: `Create a new sign-in link for ${name}?` })
    .getByRole('button', { name: 'Create link' })
    .click()
  const link = await secretIn(shown)
  await shown.getByRole('button', { name: 'Done' }).click()

  const other = await browser.newContext({ baseURL: server.url, storageState: undefined })
  try {
    const bob = await other.newPage()
    await bob.goto(link)
    await expect(bob.getByRole('heading', { level: 1, name: 'Projects' })).toBeVisible()

    await page.getByRole('button', { name, exact: true }).click()
    await pick(page.getByRole('dialog', { name, exact: true }).getByRole('combobox', { name: 'Role in the whole service' }), 'Editor')
    await page.getByRole('dialog', { name, exact: true }).getByRole('button', { name: 'Save' }).click()
    await expect(page.getByRole('row', { name: new RegExp(name) })).toContainText('Editor')

    await choose(page, name, 'Delete')
    const confirm = page.getByRole('dialog', { name: `Delete user ${name}?` })
    await confirm.getByRole('textbox').fill(`${name}@example.com`)
    await confirm.getByRole('button', { name: 'Delete user' }).click()
    await expect(confirm).toBeHidden()
    await expect(page.getByRole('row', { name: new RegExp(name) })).toHaveCount(0)

    await bob.reload()
    await expect(bob.getByRole('heading', { level: 1, name: 'Sign in' })).toBeVisible()
  } finally {
    await other.close()
  }
})

test('a role of its own allows what it lists, and the rest is disabled with the reason', async ({ page, browser, api, server }) => {
  const name = unique('flag writers')
  await page.goto('/roles')
  await page.getByRole('link', { name: 'Owner' }).click()
  await expect(page.getByText('Built in', { exact: true })).toBeVisible()
  await expect(page.getByRole('img', { name: 'Create and clone flags' })).toBeVisible()
  await expect(page.getByRole('textbox')).toHaveCount(0)
  await checkPage(page, 'role')
  await page.goto('/roles')
  await page.getByRole('link', { name: 'Create role' }).click()
  await page.getByRole('textbox', { name: 'Name' }).fill(name)
  await page.getByRole('radio', { name: 'In the whole service' }).check()
  await page.getByRole('checkbox', { name: 'Create and clone flags' }).check()
  await page.getByRole('checkbox', { name: /^Read roles/ }).check()
  await page.getByRole('button', { name: 'Create role' }).click()
  await page.getByRole('link', { name }).click()
  await expect(page.getByRole('checkbox', { name: 'Create and clone flags' })).toBeChecked()
  await expect(page.getByRole('checkbox', { name: 'Change flags and their tags, revive flags' })).not.toBeChecked()

  const url = await userWithLink(api, unique('carla'), await roleOf(api, name))
  const other = await browser.newContext({ baseURL: server.url, storageState: undefined })
  try {
    const carla = await other.newPage()
    await carla.goto(url)
    await expect(carla.getByRole('heading', { level: 1, name: 'Projects' })).toBeVisible()
    await carla.goto('/segments')
    const button = carla.getByRole('button', { name: /segment/i }).first()
    await expect(button).toBeDisabled()
    await expect(carla.getByText(/You need the permission “Change segments”/).first()).toBeAttached()
    await carla.goto('/users')
    await expect(carla.getByRole('heading', { name: 'No permission' })).toBeVisible()
  } finally {
    await other.close()
  }
})

test('a person creates a personal token, uses it, and signs out everywhere', async ({ browser, api, server }) => {
  const url = await userWithLink(api, unique('dora'), await roleOf(api, 'Viewer'))
  const [first, second] = [
    await browser.newContext({ baseURL: server.url, storageState: undefined }),
    await browser.newContext({ baseURL: server.url, storageState: undefined }),
  ]
  try {
    const page = await first.newPage()
    await page.goto(url)
    await expect(page.getByRole('heading', { level: 1, name: 'Projects' })).toBeVisible()
    await second.addCookies(await first.cookies())
    const sameSession = await second.newPage()
    await sameSession.goto('/profile')
    await expect(sameSession.getByRole('heading', { level: 1, name: 'Profile' })).toBeVisible()

    await page.goto('/profile')
    await page.getByRole('button', { name: 'Create token' }).click()
    const dialog = page.getByRole('dialog', { name: 'Create personal token' })
    await dialog.getByRole('textbox', { name: 'Description' }).fill('script')
    await dialog.getByRole('button', { name: 'Create token' }).click()
    const created = page.getByRole('dialog', { name: 'Token script' })
    await expect(created.getByText('It is not shown again.')).toBeVisible()
    const secret = await secretIn(created)
    await created.getByRole('button', { name: 'Done' }).click()
    await expect(page.getByRole('cell', { name: 'script', exact: true })).toBeVisible()
    const read = async () => (await fetch(`${server.url}/api/admin/user`, { headers: { Authorization: secret } })).status
    expect(await read()).toBe(200)

    await page.getByRole('button', { name: 'Sign out everywhere' }).click()
    await page.getByRole('dialog', { name: 'Sign out everywhere?' }).getByRole('button', { name: 'Sign out everywhere' }).click()
    await expect(page.getByRole('heading', { level: 1, name: 'Sign in' })).toBeVisible()
    await sameSession.reload()
    await expect(sameSession.getByRole('heading', { level: 1, name: 'Sign in' })).toBeVisible()
    expect(await read()).toBe(200)
  } finally {
    await first.close()
    await second.close()
  }
})

test('a service account gets a token', async ({ page, server }) => {
  const username = unique('terraform')
  await page.goto('/service-accounts?create=true')
  const dialog = page.getByRole('dialog', { name: 'Create service account' })
  await dialog.getByRole('textbox', { name: /^Name/ }).fill('Terraform')
  await dialog.getByRole('textbox', { name: 'User name' }).fill(username)
  await dialog.getByRole('button', { name: 'Create service account' }).click()
  const tokens = page.getByRole('dialog', { name: 'Tokens of Terraform' })
  await tokens.getByRole('button', { name: 'Create token' }).click()
  const create = page.getByRole('dialog', { name: 'Create personal token' })
  await create.getByRole('textbox', { name: 'Description' }).fill('pipeline')
  await create.getByRole('button', { name: 'Create token' }).click()
  const created = page.getByRole('dialog', { name: 'Token pipeline' })
  const secret = await secretIn(created)
  await created.getByRole('button', { name: 'Done' }).click()
  await expect(tokens.getByRole('cell', { name: 'pipeline', exact: true })).toBeVisible()
  expect((await fetch(`${server.url}/api/admin/user`, { headers: { Authorization: secret } })).status).toBe(200)
})
