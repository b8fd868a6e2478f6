// Every page at three widths, light and dark, with the data of a shop, on one contact sheet: SHEET=1 make test-browser TEST=e2e/sheet.spec.ts
// PAGES=flag,audit takes only the pages whose names contain one of these. test-results/sheet/ then has sheet.png and each picture.
import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test, type Api } from './fixtures'

const folder = fileURLToPath(new URL('../test-results/sheet/', import.meta.url))
const sizes = [
  { width: 1280, height: 800, shown: 400 },
  { width: 1920, height: 1080, shown: 440 },
  { width: 390, height: 844, shown: 115 },
]
const themes = ['light', 'dark'] as const

const areas = ['checkout', 'search', 'invoice', 'login', 'cart', 'wallet', 'profile', 'banner', 'fraud', 'push']
const kinds = ['new', 'fast', 'dark', 'beta']
const types = ['release', 'experiment', 'operational', 'kill-switch', 'permission']
const projects = [
  { id: 'default', name: 'Default' },
  { id: 'payments', name: 'Payments', description: 'Cards, wallets and invoices' },
  { id: 'growth', name: 'Growth', description: 'Sign-up and first weeks' },
]

const rollout = (percent: number, more: object = {}) => ({
  name: 'flexibleRollout',
  parameters: { rollout: String(percent), stickiness: 'default', groupId: 'new-checkout' },
  ...more,
})

/** Fills the server: 60 flags in 3 projects, people, tokens, usage, a draft, and change requests. Returns the paths of all pages. */
async function fill(api: Api, url: string): Promise<Record<string, string>> {
  for (const project of projects.slice(1)) await api('POST', '/api/admin/projects', project)
  const segment = await api('POST', '/api/admin/segments', {
    name: 'beta customers',
    description: 'Customers who agreed to try new things',
    constraints: [
      { contextName: 'appVersion', operator: 'SEMVER_GTE', value: '2.4.0' },
      { contextName: 'country', operator: 'IN', values: ['NO', 'SE', 'DK', 'FI', 'CH', 'DE', 'AT', 'FR', 'IT', 'ES', 'PT', 'NL'] },
    ],
  })
  for (const [index, { id }] of projects.entries()) {
    const names = kinds.flatMap((kind) => areas.map((area) => `${kind}-${area}`)).slice(0, 20)
    const features = names.map((name, at) => ({
      name: id === 'default' ? name : `${id}-${name}`,
      type: types[(at + index) % types.length],
      description: at % 3 === 0 ? `The ${name.replace('-', ' ')} of the shop` : '',
      stale: at % 9 === 8,
    }))
    const featureStrategies = features.slice(0, 12).map(({ name }, at) => ({ ...rollout([10, 25, 50, 100][at % 4]!), featureName: name }))
    const featureEnvironments = features.map(({ name }, at) => ({
      name: 'production',
      featureName: name,
      environment: 'production',
      enabled: at % 3 !== 2 && at < 12,
    }))
    const featureTags = features.filter((_, at) => at % 2 === 0).map(({ name }) => ({ featureName: name, tagType: 'simple', tagValue: 'growth' }))
    await api('POST', '/api/admin/features-batch/import', {
      project: id,
      environment: 'production',
      data: { features, featureStrategies, featureEnvironments, featureTags },
    })
  }
  const production = '/api/admin/projects/default/features/new-checkout/environments/production'
  const users = Array.from({ length: 30 }, (_, at) => `user-${1000 + 7 * at}`)
  const { id } = await api('POST', `${production}/strategies`, rollout(25, { title: 'Beta customers', segments: [segment.id] }))
  await api('POST', `${production}/strategies`, { ...rollout(100), constraints: [{ contextName: 'userId', operator: 'IN', values: users }] })
  await api('PUT', `/api/admin/projects/default/features/new-checkout/environments/production/strategies/${id}`, rollout(30, { segments: [segment.id] }))
  await api('PUT', `${production}/variants`, [
    { name: 'one-page', weight: 500, weightType: 'variable', stickiness: 'default', payload: { type: 'json', value: '{"steps": 1}' } },
    { name: 'two-pages', weight: 500, weightType: 'variable', stickiness: 'default' },
  ])
  const checkout = '/api/admin/projects/default/features/new-checkout'
  await api('PATCH', checkout, [{ op: 'replace', path: '/owner', value: 'Team Checkout' }])
  await api('POST', `${checkout}/link`, { url: 'https://tickets.example.com/SHOP-1204', title: 'SHOP-1204' })
  await api('POST', `${checkout}/comments`, { text: 'Half of the beta customers get it on Tuesday, after the report of the week.' })
  await api('POST', `${checkout}/dependencies`, { feature: 'new-cart' })
  const user = await api('POST', '/api/admin/user-admin', { name: 'Priya Shah', email: 'priya@example.com', rootRole: 2 })
  await api('POST', '/api/admin/user-admin', { name: 'Jonas Lie', email: 'jonas@example.com', rootRole: 3 })
  await api('POST', '/api/admin/service-account', { name: 'Pipeline', username: 'pipeline', rootRole: 2 })
  await api('POST', `/api/admin/addons`, {
    provider: 'webhook',
    description: 'The chat of the team',
    enabled: true,
    events: ['feature-created', 'feature-environment-enabled'],
    parameters: { url: 'https://chat.example.com/hook' },
  })
  const { secret } = await api('POST', '/api/admin/api-tokens', { tokenName: 'shop', type: 'client', projects: ['*'], environment: 'production' })
  await api('POST', '/api/admin/api-tokens', { tokenName: 'web', type: 'frontend', projects: ['default'], environment: 'development' })
  const stop = new Date().toISOString()
  const send = (path: string, body: object) =>
    fetch(url + path, { method: 'POST', headers: { Authorization: secret, 'Content-Type': 'application/json' }, body: JSON.stringify(body) })
  await send('/api/client/register', {
    appName: 'shop',
    instanceId: 'host-1',
    sdkVersion: 'unleash-client-node:6.12.1',
    strategies: ['default'],
    started: stop,
    interval: 10_000,
  })
  const toggles = Object.fromEntries(
    areas.map((area, at) => [`new-${area}`, { yes: 1000 - 90 * at, no: 100 * at + 30, variants: at === 0 ? { 'one-page': 510, 'two-pages': 490 } : {} }]),
  )
  await send('/api/client/metrics', { appName: 'shop', instanceId: 'host-1', bucket: { start: stop, stop, toggles } })
  await api('PUT', '/api/admin/projects/default/environments/production/change-requests/config', { changeRequestsEnabled: true, requiredApprovals: 1 }).catch(
    () => undefined,
  )
  const change = { action: 'updateStrategy', feature: 'new-checkout', payload: { ...rollout(50, { segments: [segment.id] }), id } }
  const request = await api('POST', '/api/admin/projects/default/environments/production/change-requests', change).catch(() => undefined)
  if (request) await api('PUT', `/api/admin/projects/default/change-requests/${request.id}/state`, { state: 'In review' }).catch(() => undefined)

  const project = '/projects/default'
  const flag = `${project}/flags/new-checkout`
  return {
    projects: '/projects',
    flags: project,
    'flags-filtered': `${project}?q=new&type=release`,
    requests: `${project}/change-requests`,
    ...(request && { request: `${project}/change-requests/${request.id}` }),
    health: `${project}/health`,
    'project-applications': `${project}/applications`,
    'project-environments': `${project}/environments`,
    access: `${project}/access`,
    'project-tokens': `${project}/tokens`,
    log: `${project}/log`,
    archive: `${project}/archive`,
    'project-settings': `${project}/settings`,
    flag,
    'flag-new': '/projects/payments/flags/payments-fast-push',
    strategy: `${flag}?strategy=${id}`,
    variants: `${flag}/variants`,
    usage: `${flag}/usage`,
    history: `${flag}/history`,
    'flag-settings': `${flag}/settings`,
    inbox: '/change-requests',
    'flags-all': '/flags?q=checkout',
    playground: '/playground',
    audit: '/audit',
    applications: '/applications',
    application: '/applications/shop',
    connect: '/connect',
    users: '/users',
    roles: '/roles',
    role: `/roles/${user.rootRole}`,
    'service-accounts': '/service-accounts',
    profile: '/profile',
    tokens: '/tokens',
    segments: '/segments',
    segment: `/segments/${segment.id}`,
    context: '/context',
    environments: '/environments',
    'tag-types': '/tag-types',
    strategies: '/strategies',
    import: '/import',
    webhooks: '/webhooks',
    webhook: '/webhooks/1',
    missing: '/nowhere',
    docs: '/docs',
  }
}

test('contact sheet', async ({ page, api, server, browser }) => {
  test.setTimeout(30 * 60_000)
  mkdirSync(folder, { recursive: true })
  const wanted = process.env.PAGES?.split(',')
  const paths = Object.entries(await fill(api, server.url)).filter(([name]) => wanted?.some((one) => name.includes(one)) ?? true)
  const rows: string[] = []
  for (const [name, path] of paths) {
    await page.setViewportSize(sizes[0]!)
    await page.goto(path)
    const pictures: string[] = []
    for (const size of sizes) {
      await page.setViewportSize(size)
      for (const colorScheme of themes) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
        await page.waitForLoadState('networkidle')
        await expect(page.locator('[aria-busy="true"], .loading')).toHaveCount(0)
        const picture = await page.screenshot({ path: `${folder}${name}-${size.width}-${colorScheme}.png` })
        pictures.push(`<img width="${size.shown}" src="data:image/png;base64,${picture.toString('base64')}">`)
      }
    }
    rows.push(`<h2>${name} <small>${path}</small></h2><div>${pictures.join('')}</div>`)
  }
  const style = 'body{margin:12px;font:12px sans-serif;background:#888}h2{margin:12px 0 4px;font-size:13px}div{display:flex;gap:6px;align-items:flex-start}'
  const html = `<!doctype html><meta charset="utf-8"><title>Contact sheet</title><style>${style}</style>${rows.join('')}`
  writeFileSync(`${folder}sheet.html`, html)
  const sheet = await browser.newPage({ viewport: { width: 1980, height: 800 } })
  await sheet.setContent(html)
  await sheet.screenshot({ path: `${folder}sheet.png`, fullPage: true })
  await sheet.close()
})
