import { execFile } from 'node:child_process'
import type { Locator, Page, Request } from '@playwright/test'
import { checkPage } from './checkpage'
import { expect, noConsoleErrors, test, unique, type Api } from './fixtures'

/** Each form: where it is, how it is filled in, and the button that sends it. */
const forms: { name: string; path: (flag: string) => string; fill: (page: Page, flag: string) => Promise<unknown>; submit: string }[] = [
  {
    name: 'flag',
    path: () => '/projects/default',
    fill: async (page) => {
      await page.getByRole('button', { name: 'Create flag' }).first().click()
      await page.getByRole('textbox', { name: /^Name/ }).fill(unique('made'))
      await page.getByLabel('Description', { exact: true }).fill("It's new")
    },
    submit: 'Create flag',
  },
  {
    name: 'settings of a flag',
    path: (flag) => `/projects/default/flags/${flag}/settings`,
    fill: (page) => page.getByLabel('Description').fill('Changed'),
    submit: 'Save settings',
  },
  {
    name: 'strategy',
    path: (flag) => `/projects/default/flags/${flag}`,
    fill: (page) => page.getByRole('button', { name: 'Add strategy in development' }).click(),
    submit: 'Add strategy',
  },
  {
    name: 'variants',
    path: (flag) => `/projects/default/flags/${flag}/variants?edit=development`,
    fill: async (page) => {
      const names = page.getByRole('dialog').getByRole('textbox', { name: /^Name/ })
      await names.nth(0).fill('blue')
      await names.nth(1).fill('red')
    },
    submit: 'Save variants',
  },
  {
    name: 'segment',
    path: () => '/segments/new',
    fill: (page) => page.getByRole('textbox', { name: /^Name/ }).fill(unique('beta')),
    submit: 'Create segment',
  },
  {
    name: 'environment',
    path: () => '/environments',
    fill: async (page) => {
      await page.getByRole('button', { name: 'Create environment' }).click()
      await page.getByRole('textbox', { name: /^Name/ }).fill(unique('stage'))
    },
    submit: 'Create environment',
  },
  {
    name: 'project',
    path: () => '/projects',
    fill: async (page) => {
      await page.getByRole('button', { name: 'Create project' }).first().click()
      await page.getByRole('textbox', { name: /^Name/ }).fill('Shop')
      await page.getByLabel('Id', { exact: true }).fill(unique('shop'))
    },
    submit: 'Create project',
  },
  {
    name: 'token',
    path: () => '/tokens?create=true',
    fill: (page) => page.getByRole('textbox', { name: /^Name/ }).fill(unique('till')),
    submit: 'Create token',
  },
  {
    name: 'dependency',
    path: (flag) => `/projects/default/flags/${flag}`,
    fill: async (page) => {
      await page.getByRole('button', { name: 'Add parent' }).click()
      await page.getByRole('combobox', { name: 'Parent' }).fill('a-parent')
      await page.getByRole('option', { name: 'a-parent' }).click()
    },
    submit: 'Add parent',
  },
  {
    name: 'clone',
    path: (flag) => `/projects/default/flags/${flag}/settings`,
    fill: (page) => page.getByRole('button', { name: 'Clone…' }).click(),
    submit: 'Clone flag',
  },
  {
    name: 'move',
    path: (flag) => `/projects/default/flags/${flag}/settings`,
    fill: async (page) => {
      await page.getByRole('button', { name: 'Move…' }).click()
      await page.getByLabel('New project').selectOption('elsewhere')
    },
    submit: 'Move flag',
  },
  {
    name: 'completion',
    path: (flag) => `/projects/default/flags/${flag}/settings`,
    fill: (page) => page.getByRole('button', { name: 'Mark as completed…' }).click(),
    submit: 'Mark as completed',
  },
  {
    name: 'default strategy',
    path: () => '/projects/default/environments',
    fill: (page) => page.getByRole('button', { name: 'Set the default strategy of development' }).click(),
    submit: 'Save default strategy',
  },
  {
    name: 'member',
    path: () => '/projects/elsewhere/access',
    fill: async (page) => {
      await page.getByRole('button', { name: 'Add member' }).first().click()
      await page.getByRole('dialog').getByLabel('Person or service account').fill('admin')
      await page.getByRole('option', { name: 'admin' }).first().click()
    },
    submit: 'Add member',
  },
  {
    name: 'user',
    path: () => '/users',
    fill: async (page) => {
      await page.getByRole('button', { name: 'Create user' }).click()
      await page.getByRole('textbox', { name: 'User name' }).fill(unique('uma'))
    },
    submit: 'Create user',
  },
  {
    name: 'service account',
    path: () => '/service-accounts?create=true',
    fill: async (page) => {
      await page.getByRole('textbox', { name: /^Name/ }).fill('Robot')
      await page.getByRole('textbox', { name: /^User name/ }).fill(unique('robot'))
    },
    submit: 'Create service account',
  },
  {
    name: 'role',
    path: () => '/roles/new',
    fill: (page) => page.getByRole('textbox', { name: /^Name/ }).fill(unique('reader')),
    submit: 'Create role',
  },
  {
    name: 'context field',
    path: () => '/context',
    fill: async (page) => {
      await page.getByRole('button', { name: 'Create context field' }).click()
      await page.getByRole('textbox', { name: /^Name/ }).fill(unique('plan'))
    },
    submit: 'Create field',
  },
  {
    name: 'strategy type',
    path: () => '/strategies',
    fill: async (page) => {
      await page.getByRole('button', { name: 'Create strategy type' }).click()
      await page.getByRole('textbox', { name: /^Name/ }).fill(unique('byRegion'))
    },
    submit: 'Create strategy type',
  },
  {
    name: 'tag type',
    path: () => '/tag-types',
    fill: async (page) => {
      await page.getByRole('button', { name: 'Create tag type' }).click()
      await page.getByRole('textbox', { name: /^Name/ }).fill(unique('team'))
    },
    submit: 'Create tag type',
  },
]

test.beforeAll(async ({ server }) => {
  const post = (path: string, body: object) => {
    const headers = { Authorization: server.adminToken!, 'Content-Type': 'application/json' }
    return fetch(server.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
  }
  await post('/api/admin/projects', { id: 'elsewhere', name: 'Elsewhere' })
  await post('/api/admin/projects/default/features', { name: 'a-parent' })
})

for (const form of forms) {
  test(`the command of a form is what the form sends: ${form.name}`, async ({ page, api }) => {
    const check = noConsoleErrors(page)
    const flag = unique('command')
    await api('POST', '/api/admin/projects/default/features', { name: flag })
    await page.goto(form.path(flag))
    await form.fill(page, flag)
    const command = await showCommand(page)
    const sent = page.waitForRequest((request) => request.method() !== 'GET' && !request.url().endsWith('/validate'))
    await lastButton(page, form.submit).click()
    expect(parse(command)).toEqual(shape(await sent))
    check()
  })
}

test('the command does what the form would do, with the token of its caller', async ({ page, api, baseURL, server }) => {
  const flag = unique('shell')
  await page.goto('/projects/default')
  await page.getByRole('button', { name: 'Create flag' }).first().click()
  await page.getByRole('textbox', { name: /^Name/ }).fill(flag)
  await page.getByLabel('Description', { exact: true }).fill("It's $HOME")
  await page.getByRole('button', { name: 'Show as command' }).click()
  const dialog = page.getByRole('dialog', { name: 'The form as a command' })
  await expect(dialog).toContainText(new URL(baseURL!).origin)
  await checkPage(page, 'command')
  const command = await dialog.getByRole('region', { name: 'Command', exact: true }).innerText()
  await expect(dialog.getByRole('button', { name: 'Copy Command' })).toBeVisible()
  for (const cookie of await page.context().cookies()) expect(command).not.toContain(cookie.value)
  await run(command, { GUIDON_URL: baseURL!, GUIDON_TOKEN: server.adminToken! })
  expect((await described(api, flag)).description).toBe("It's $HOME")
})

const described = (api: Api, flag: string) => api('GET', `/api/admin/projects/default/features/${flag}`)

async function showCommand(page: Page): Promise<string> {
  await page.getByRole('button', { name: 'Show as command' }).last().click()
  const dialog = page.getByRole('dialog', { name: 'The form as a command' })
  const command = await dialog.getByRole('region', { name: 'Command', exact: true }).innerText()
  await dialog.getByRole('button', { name: 'Close' }).click()
  await expect(dialog).toHaveCount(0)
  return command
}

const lastButton = (page: Page, name: string): Locator => page.getByRole('button', { name, exact: true }).last()

/** Method, path and body of a command with one request. */
function parse(command: string) {
  const [, method, path] = /-X (\w+) "\$GUIDON_URL([^"]+)"/.exec(command)!
  const body = /-d '([\s\S]*)'$/.exec(command)?.[1]
  return { method, path, body: body === undefined ? null : (JSON.parse(body.replaceAll("'\\''", "'")) as unknown) }
}

function shape(request: Request) {
  const { pathname, search } = new URL(request.url())
  return { method: request.method(), path: pathname + search, body: request.postDataJSON() as unknown }
}

function run(command: string, settings: Record<string, string>): Promise<void> {
  return new Promise((resolve, reject) => {
    execFile('sh', ['-c', command], { env: { ...process.env, ...settings }, timeout: 20_000 }, (error, stdout, stderr) =>
      error ? reject(new Error(`${error.message}\n${stdout}${stderr}`)) : resolve(),
    )
  })
}
