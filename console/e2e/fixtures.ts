// What every browser test needs: a server for each worker, requests with the admin token, and a signed-in page.
//
//   import { expect, test, unique } from './fixtures'
//   test('creates a segment', async ({ page, api }) => { await page.goto('/segments'); … })
import { test as base, expect, type Locator, type Page } from '@playwright/test'
import { startServer, type Server } from './server'

/** Sends a request with the admin token and returns the body; an error response fails the test. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests read what they expect
export type Api = <Body = any>(method: string, path: string, body?: unknown) => Promise<Body>

/** Opens a page on which another person is signed in, which is closed after the test. */
export type SignedIn = (userId: number) => Promise<Page>

interface WorkerFixtures {
  server: Server
  /** Cookies of the signed-in administrator. */
  session: Awaited<ReturnType<import('@playwright/test').BrowserContext['storageState']>> | undefined
}

export const test = base.extend<{ api: Api; signedIn: SignedIn }, WorkerFixtures>({
  server: [
    // eslint-disable-next-line no-empty-pattern
    async ({}, use) => {
      const server = await startServer()
      await use(server)
      await server.stop()
    },
    { scope: 'worker', timeout: 150_000 },
  ],
  // The printed link can be used once, so that each worker signs in once.
  session: [
    async ({ server, browser }, use) => {
      if (!server.link) return use(undefined)
      const context = await browser.newContext()
      const page = await context.newPage()
      await page.goto(server.link)
      await expect(page.getByRole('heading', { level: 1, name: 'Projects' })).toBeVisible()
      const session = await context.storageState()
      await context.close()
      await use(session)
    },
    { scope: 'worker', timeout: 90_000 },
  ],
  // page is signed in as the administrator.
  baseURL: ({ server }, provide) => provide(server.url),
  storageState: ({ session }, provide) => provide(session),
  api: ({ server }, provide) => provide((method, path, body) => request(server, method, path, body)),
  signedIn: async ({ browser, api }, provide) => {
    const pages: Page[] = []
    await provide(async (userId) => {
      const { url } = await api('POST', `/api/admin/user-admin/${userId}/sign-in-link`)
      const page = await (await browser.newContext({ storageState: { cookies: [], origins: [] } })).newPage()
      pages.push(page)
      await page.goto(url)
      await expect(page.getByRole('heading', { level: 1, name: 'Projects' })).toBeVisible()
      return page
    })
    for (const page of pages) await page.context().close()
  },
})

export { expect }

async function request(server: Server, method: string, path: string, body?: unknown) {
  const headers: Record<string, string> = {}
  if (body !== undefined) headers['Content-Type'] = 'application/json'
  if (server.adminToken) headers.Authorization = server.adminToken
  const response = await fetch(server.url + path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
  return text && response.headers.get('Content-Type')?.includes('json') ? JSON.parse(text) : text
}

let counter = 0

/** A name that no other test uses. */
export function unique(name: string): string {
  return `${name}-${process.env.TEST_PARALLEL_INDEX ?? 0}-${Date.now().toString(36)}-${counter++}`
}

/** Collects the errors that a page writes to its console, and its failed scripts. allow matches the expected ones. */
export function noConsoleErrors(page: Page, allow: RegExp = /$^/): () => void {
  const errors: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' && !allow.test(message.text())) errors.push(message.text())
  })
  page.on('pageerror', (error) => errors.push(String(error)))
  return () => expect(errors).toEqual([])
}

/** Chooses in a Select the first choice whose name begins with a text. */
export async function pick(select: Locator, choice: string) {
  await select.click()
  await select
    .page()
    .getByRole('option', { name: new RegExp(`^${choice.replace(/[^\w ]/g, '\\$&')}`, 'i') })
    .first()
    .click()
}

/** Opens a page of a project that its tabs have in the menu More. */
export async function openMore(page: Page, tab: string) {
  await page.locator('.tabs').getByRole('button').click()
  await page.getByRole('menuitem', { name: tab }).click()
}

/** Adds a filter of a FilterBar by its value. */
export async function addFilter(page: Page, value: string) {
  await page.getByRole('button', { name: 'Filter', exact: true }).click()
  await page.getByRole('combobox', { name: 'Search the filters' }).fill(value)
  await page.getByRole('option', { name: value }).first().click()
}

/** Adds a filter whose text is typed: typeFilter(page, 'Flag', 'checkout'). */
export async function typeFilter(page: Page, filter: string, text: string) {
  await addFilter(page, filter)
  await page.getByRole('combobox', { name: `${filter}: search` }).fill(text)
  await page.getByRole('option', { name: text }).first().click()
}

/** Makes the window one that is not seen: it reads nothing by itself, until it is loaded again. */
export const hide = (page: Page) =>
  page.evaluate(() => {
    Object.defineProperty(document, 'visibilityState', { value: 'hidden' })
    window.dispatchEvent(new Event('visibilitychange'))
  })

/** Takes back what the newest message says, and waits for the answer. */
export async function undo(page: Page, message?: string) {
  const messages = page.getByRole('region', { name: 'Messages' })
  if (message) await expect(messages.getByText(message)).toBeVisible()
  await messages.getByRole('button', { name: 'Undo' }).click()
  await expect(messages.getByText(/ was undone$/)).toBeVisible()
}

export const rollout = (percent: number) => ({ name: 'flexibleRollout', parameters: { rollout: String(percent), stickiness: 'default', groupId: 'g' } })

/** Reports usage as an SDK does. */
export async function report(
  api: Api,
  baseURL: string,
  appName: string,
  toggles: object,
  { sdkVersion = 'unleash-client-node:6.12.1', project = 'default' } = {},
) {
  const { secret } = await api('POST', '/api/admin/api-tokens', {
    tokenName: unique('report'),
    type: 'client',
    projects: [project],
    environment: 'development',
  })
  const now = new Date().toISOString()
  const headers = { Authorization: secret, 'Content-Type': 'application/json' }
  const send = async (path: string, body: object) => {
    const response = await fetch(baseURL + path, { method: 'POST', headers, body: JSON.stringify({ appName, instanceId: 'host-1', ...body }) })
    expect(response.status).toBe(202)
  }
  await send('/api/client/register', { sdkVersion, strategies: ['default'], started: now, interval: 60 })
  await send('/api/client/metrics', { bucket: { start: now, stop: now, toggles } })
}

/** Shows the page also earlier hours of usage, as parts of the present one: the server counts a report in the hour in which it comes. */
export const withEarlierHours = (page: Page, parts: number[]) =>
  page.route('**/raw?hoursBack=*', async (route) => {
    const response = await route.fetch()
    const { data, ...rest } = (await response.json()) as { data: { timestamp: string; yes: number; no: number }[] }
    const now = data.filter(({ yes, no }) => yes + no > 0)
    const earlier = now.flatMap((row) =>
      parts.map((part, index) => ({
        ...row,
        timestamp: new Date(Date.parse(row.timestamp) - (index + 1) * 3_600_000).toISOString(),
        yes: Math.round(part * row.yes),
        no: Math.round(part * row.no),
      })),
    )
    await route.fulfill({ response, json: { ...rest, data: [...earlier, ...data] } })
  })

/** Waits until the server has added so many evaluations of a flag to its sums. */
export const expectUsage = (api: Api, flag: string, evaluations: number) =>
  expect
    .poll(
      async () => {
        const { data } = await api('GET', `/api/admin/client-metrics/features/${flag}/raw?hoursBack=2`)
        return (data as { yes: number; no: number }[]).reduce((sum, row) => sum + row.yes + row.no, 0)
      },
      { timeout: 40_000, message: 'usage in the sums' },
    )
    .toBe(evaluations)
