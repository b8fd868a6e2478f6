// Takes the screenshots of the documentation: DOCS=1 make test-browser TEST=e2e/docs.spec.ts. They need a server without the data of other tests.
import { fileURLToPath } from 'node:url'
import { expect, test, withEarlierHours, type Api } from './fixtures'

const image = (name: string) => fileURLToPath(new URL(`../../docs/images/console-${name}.png`, import.meta.url))
const features = '/api/admin/projects/default/features'
const rollout = (percent: number, more: object = {}) => ({
  name: 'flexibleRollout',
  parameters: { rollout: String(percent), stickiness: 'userId', groupId: 'checkout' },
  ...more,
})

test.use({ viewport: { width: 1180, height: 720 }, colorScheme: 'light' })

/** Creates a few flags as a shop would have them. */
async function createShop(api: Api) {
  const segment = await api('POST', '/api/admin/segments', {
    name: 'Beta users',
    constraints: [{ contextName: 'country', operator: 'IN', values: ['NO', 'SE', 'DK'] }],
  })
  const flags = [
    { name: 'new-checkout', type: 'release', description: 'The checkout in one page.' },
    { name: 'price-banner', type: 'experiment', description: 'A banner with the best price.' },
    { name: 'search-suggestions', type: 'release', description: 'Suggestions while typing.' },
    { name: 'payment-fallback', type: 'kill-switch', description: 'The second provider of payments.' },
  ]
  for (const flag of flags) {
    await api('POST', features, flag)
    await api('POST', `${features}/${flag.name}/environments/development/strategies`, rollout(100))
    await api('POST', `${features}/${flag.name}/environments/development/on`)
  }
  const production = `${features}/new-checkout/environments/production`
  const { id } = await api('POST', `${production}/strategies`, rollout(10, { title: 'Beta users in the north', segments: [segment.id] }))
  await api('POST', `${production}/on`)
  await api('POST', '/api/admin/features/new-checkout/tags', { type: 'simple', value: 'checkout' })
  return id as string
}

test('screenshots of the documentation', async ({ page, api, server }) => {
  const strategy = await createShop(api)
  const { secret } = await api('POST', '/api/admin/api-tokens', { tokenName: 'shop', type: 'client', projects: ['default'], environment: 'production' })
  const now = new Date().toISOString()
  const response = await fetch(`${server.url}/api/client/metrics`, {
    method: 'POST',
    headers: { Authorization: secret, 'Content-Type': 'application/json' },
    body: JSON.stringify({
      appName: 'shop',
      instanceId: 'host-1',
      bucket: { start: now, stop: now, toggles: { 'new-checkout': { yes: 1430, no: 11_260, variants: {} } } },
    }),
  })
  expect(response.status).toBe(202)
  await page.goto('/projects/default')
  await expect(page.getByRole('link', { name: 'new-checkout' })).toBeVisible()
  await page.screenshot({ path: image('flags') })

  await page.goto('/projects/default/flags/new-checkout')
  await expect(page.getByText('Beta users in the north')).toBeVisible()
  await page.screenshot({ path: image('flag') })

  await page.goto(`/projects/default/flags/new-checkout?strategy=${strategy}`)
  await expect(page.getByRole('dialog')).toBeVisible()
  await page.screenshot({ path: image('strategy') })

  await page.goto('/projects/default/flags/new-checkout/usage')
  const reported = async () => {
    const { data } = await api('GET', '/api/admin/client-metrics/features/new-checkout/raw?hoursBack=24')
    return data.reduce((sum: number, row: { yes: number }) => sum + row.yes, 0)
  }
  await expect.poll(reported, { timeout: 60_000 }).toBe(1430)
  await withEarlierHours(page, [1.1, 0.9, 1, 0.7, 0.8, 0.6, 0.5, 0.5])
  await page.reload()
  await expect(page.locator('canvas').first()).toBeVisible()
  await page.screenshot({ path: image('usage') })
})
