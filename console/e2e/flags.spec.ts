import { readFileSync } from 'node:fs'
import { checkPage } from './checkpage'
import { addFilter, type Api, expect, noConsoleErrors, openMore, pick, test, unique } from './fixtures'

// project creates a project of its own, so that its list has only the flags of the test.
async function project(api: Api, flags: string[] = []) {
  const id = unique('shop')
  await api('POST', '/api/admin/projects', { id, name: id })
  for (const name of flags) await api('POST', `/api/admin/projects/${id}/features`, { name, description: `What ${name} is for` })
  return id
}

// addStrategy adds a strategy for everyone, without which a flag cannot be switched on.
const addStrategy = (api: Api, project: string, flag: string, environment: string) =>
  api('POST', `/api/admin/projects/${project}/features/${flag}/environments/${environment}/strategies`, { name: 'default' })

test('creates a flag, with the name checked while it is typed', async ({ page, api }) => {
  const check = noConsoleErrors(page, /the server responded with a status of (400|409)/)
  const taken = unique('taken')
  const name = unique('checkout')
  const id = await project(api, [taken])
  await page.goto(`/projects/${id}`)
  await page.getByRole('button', { name: 'Create flag' }).click()
  const dialog = page.getByRole('dialog', { name: 'Create flag' })
  const field = dialog.getByRole('textbox', { name: 'Name' })
  await expect(field).toBeFocused()
  await field.fill(taken)
  await expect(dialog.getByText(/taken/i)).toBeVisible()
  await field.fill('not a name')
  await expect(dialog.getByText('contains a character that is not allowed')).toBeVisible()
  await field.fill(name)
  await expect(dialog.getByText('The name is free.')).toBeVisible()
  await pick(dialog.getByRole('combobox', { name: 'Type', exact: true }), 'Kill switch')
  await dialog.getByRole('textbox', { name: 'Description' }).fill('The checkout in one page')
  await dialog.getByRole('combobox', { name: 'Tags: value' }).fill('payments')
  await dialog.getByRole('combobox', { name: 'Tags: value' }).press('Enter')
  await expect(dialog.getByRole('button', { name: 'Remove tag simple:payments' })).toBeVisible()
  await checkPage(page, 'flags-create')
  await dialog.getByRole('button', { name: 'Create flag' }).click()
  await expect(page).toHaveURL(`/projects/${id}/flags/${name}`)
  const created = await api('GET', `/api/admin/projects/${id}/features/${name}`)
  expect(created).toMatchObject({ type: 'kill-switch', description: 'The checkout in one page', tags: [{ type: 'simple', value: 'payments' }] })
  check()
})

test('a project without flags explains what a flag is', async ({ page, api }) => {
  const id = await project(api)
  await page.goto(`/projects/${id}`)
  await expect(page.getByRole('heading', { name: 'No flags yet' })).toBeVisible()
  await checkPage(page, 'flags-empty')
  await page.getByRole('button', { name: 'Create flag' }).click()
  await expect(page.getByRole('dialog', { name: 'Create flag' })).toBeVisible()
})

test('a long list scrolls in its box and leaves no blank space below the page', async ({ page, api }) => {
  const id = await project(
    api,
    Array.from({ length: 32 }, () => unique('long')),
  )
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.goto(`/projects/${id}`)
  await expect(page.getByText('32 flags', { exact: true })).toBeVisible()
  await expect(page.getByRole('switch').first()).toBeVisible()
  const blank = await page.evaluate(
    () => document.documentElement.scrollHeight - Math.max(innerHeight, Math.ceil(document.body.getBoundingClientRect().height)),
  )
  expect(blank).toBe(0)
})

test('the question before a switch in production says whom it concerns, and names that differ at their ends are told apart', async ({ page, api }) => {
  const names = ['1', '2'].map((end) => unique(`shop-checkout-experience-redesign-${end}`))
  const id = await project(api, names)
  const segment = await api('POST', '/api/admin/segments', {
    name: unique('beta-users'),
    constraints: [{ contextName: 'plan', operator: 'IN', values: ['beta'] }],
  })
  await api('POST', `/api/admin/projects/${id}/features/${names[0]}/environments/production/strategies`, {
    name: 'flexibleRollout',
    parameters: { rollout: '10', stickiness: 'default', groupId: 'g' },
    segments: [segment.id],
  })
  const concerned = page.getByRole('list', { name: 'Whom it concerns' })
  const say = async (url: string) => {
    await page.goto(url)
    await page.getByRole('switch', { name: `${names[0]} in production` }).click()
    await expect(concerned).toHaveText(`10% of users in segment ${segment.name}.`)
  }
  await say(`/projects/${id}`)
  await page.keyboard.press('Escape')
  const link = page.getByRole('link', { name: names[0] })
  expect(await link.evaluate((element) => element.scrollHeight <= element.clientHeight && element.scrollWidth <= element.clientWidth)).toBe(true)
  await say(`/projects/${id}/flags/${names[0]}`)
})

test('filters, sorts, switches and marks flags, and the address keeps the view', async ({ page, api }) => {
  const check = noConsoleErrors(page)
  const names = ['banner', 'checkout', 'search'].map(unique)
  const [banner, checkout, search] = names as [string, string, string]
  const id = await project(api, names)
  await api('POST', `/api/admin/projects/${id}/stale`, { features: [banner], stale: true })
  await api('POST', `/api/admin/features/${checkout}/tags`, { type: 'simple', value: 'payments' })
  await page.goto(`/projects/${id}`)
  const table = page.getByRole('table', { name: `Flags of ${id}` })
  const row = (name: string) => table.getByRole('row', { name })
  await expect(page.getByText('3 flags', { exact: true })).toBeVisible()
  await checkPage(page, 'flags')

  await table.getByRole('switch', { name: `${checkout} in development` }).click()
  await page
    .getByRole('dialog', { name: `Who gets ${checkout} in development?` })
    .getByRole('button', { name: 'Switch on', exact: true })
    .click()
  await expect(table.getByRole('switch', { name: `${checkout} in development` })).toBeChecked()
  await expect
    .poll(() =>
      api('GET', `/api/admin/projects/${id}/features/${checkout}`).then(
        (flag) => flag.environments.find((one: { name: string }) => one.name === 'development').enabled,
      ),
    )
    .toBe(true)
  await table.getByRole('button', { name: `Add ${search} to your favorites` }).click()
  await expect(table.getByRole('button', { name: `Remove ${search} from your favorites` })).toBeVisible()

  await addFilter(page, 'Stale')
  await expect(page.getByText('1 of 3 flags')).toBeVisible()
  await expect(row(banner)).toBeVisible()
  await page.getByRole('button', { name: 'Clear', exact: true }).click()
  await addFilter(page, 'On in development')
  await expect(row(checkout)).toBeVisible()
  await expect(row(banner)).toBeHidden()
  await page.getByRole('button', { name: 'Clear', exact: true }).click()
  await page.getByRole('searchbox', { name: 'Search name, description or tag' }).fill('payments')
  await expect(row(checkout)).toBeVisible()
  await expect(row(search)).toBeHidden()
  await expect(page).toHaveURL(/q=payments/)
  await page.reload()
  await expect(page.getByText('1 of 3 flags')).toBeVisible()
  await expect(page.getByRole('searchbox', { name: 'Search name, description or tag' })).toHaveValue('payments')
  await page.getByRole('button', { name: 'Clear', exact: true }).click()

  const order = () => table.getByRole('link').allTextContents()
  await table.getByRole('button', { name: 'Name' }).click()
  await expect.poll(order).toEqual([search, checkout, banner])
  await table.getByRole('button', { name: 'development' }).click()
  await expect.poll(order).toEqual([search, banner, checkout])
  check()
})

test('archives flags, and Undo brings them back as they were', async ({ page, api }) => {
  const check = noConsoleErrors(page)
  const names = ['old-banner', 'old-cart', 'kept'].map(unique)
  const [banner, cart, kept] = names as [string, string, string]
  const id = await project(api, names)
  await addStrategy(api, id, cart, 'development')
  await api('POST', `/api/admin/projects/${id}/features/${cart}/environments/development/on`)
  await page.goto(`/projects/${id}`)
  const table = page.getByRole('table', { name: `Flags of ${id}` })
  await table.getByRole('checkbox', { name: `Select ${banner}` }).check()
  await table.getByRole('checkbox', { name: `Select ${cart}` }).check()
  await expect(page.getByText('2 flags selected')).toBeVisible()
  await checkPage(page, 'flags-selected')
  await page.getByRole('button', { name: 'Archive', exact: true }).click()
  const archive = page.getByRole('dialog', { name: 'Archive 2 flags?' })
  await expect(archive.getByRole('listitem').filter({ hasText: cart })).toContainText('On in development')
  await expect(archive.getByRole('listitem').filter({ hasText: banner })).toContainText('Off in all environments · not used yet')
  await checkPage(page, 'flags-archive')
  await archive.getByRole('button', { name: 'Archive' }).click()
  await expect(page.getByText('2 flags archived')).toBeVisible()
  await expect(table.getByRole('row', { name: banner })).toBeHidden()
  await expect(table.getByRole('row', { name: kept })).toBeVisible()
  await page.getByRole('button', { name: 'Undo' }).click()
  await expect(page.getByText(/ was undone$/)).toBeVisible()
  await expect(table.getByRole('row', { name: banner })).toBeVisible()
  await expect(table.getByRole('switch', { name: `${cart} in development` })).toBeChecked()
  await expect(table.getByRole('switch', { name: `${banner} in development` })).not.toBeChecked()
  check()
})

test('a flag that cannot be archived is named with the reason', async ({ page, api }) => {
  const [parent, child, other] = ['parent', 'child', 'other'].map(unique) as [string, string, string]
  const id = await project(api, [parent, child, other])
  await api('POST', `/api/admin/projects/${id}/features/${child}/dependencies`, { feature: parent })
  await page.goto(`/projects/${id}`)
  const table = page.getByRole('table', { name: `Flags of ${id}` })
  await table.getByRole('checkbox', { name: `Select ${parent}` }).check()
  await table.getByRole('checkbox', { name: `Select ${other}` }).check()
  await page.getByRole('button', { name: 'Archive', exact: true }).click()
  await page.getByRole('dialog', { name: 'Archive 2 flags?' }).getByRole('button', { name: 'Archive' }).click()
  const dialog = page.getByRole('dialog', { name: '1 flag not changed' })
  await expect(dialog.getByRole('listitem')).toContainText(parent)
  await expect(page.getByText('1 flag archived')).toBeVisible()
  await dialog.getByRole('button', { name: 'Close' }).last().click()
  await expect(table.getByRole('row', { name: other })).toBeHidden()
  await expect(table.getByRole('row', { name: parent })).toBeVisible()
})

test('changes tags, states and switches of several flags, and moves them', async ({ page, api }) => {
  const names = ['one', 'two'].map(unique)
  const [one, two] = names as [string, string]
  const id = await project(api, names)
  const target = await project(api)
  for (const name of names) await addStrategy(api, id, name, 'production')
  await page.goto(`/projects/${id}`)
  const table = page.getByRole('table', { name: `Flags of ${id}` })
  const selectAll = async () => {
    await expect(page.getByRole('group', { name: 'Selected flags' })).toHaveCount(0) // what was done clears the selection
    await table.getByRole('checkbox', { name: 'Select all shown flags' }).check()
  }
  await selectAll()
  await page.getByRole('button', { name: 'Switch on' }).click()
  await page.getByRole('menuitem', { name: 'production Prod' }).click()
  const ask = page.getByRole('dialog', { name: 'Switch 2 flags on in production?' })
  await expect(ask.getByRole('listitem')).toHaveText(names)
  await ask.getByRole('button', { name: 'Switch on' }).click()
  await expect(page.getByText('2 flags switched on in production')).toBeVisible()
  await selectAll()
  await page.getByRole('button', { name: 'Switch on' }).click()
  await page.getByRole('menuitem', { name: 'production Prod' }).click()
  await expect(ask).toContainText('0 of 2 flags will be switched on; 2 are on already.')
  await ask.getByRole('button', { name: 'Switch on' }).click()
  await expect(page.getByText('No flag switched on in production; 2 flags were on already')).toBeVisible()
  await expect(table.getByRole('switch', { name: `${one} in production` })).toBeChecked()

  await selectAll()
  await page.getByRole('group', { name: 'Selected flags' }).getByRole('button', { name: 'More', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Change tags…' }).click()
  const tags = page.getByRole('dialog', { name: 'Change the tags of 2 flags' })
  await tags.getByRole('combobox', { name: 'Tags to add: value' }).fill('spring')
  await tags.getByRole('combobox', { name: 'Tags to add: value' }).press('Enter')
  await expect(tags.getByRole('button', { name: 'Remove tag simple:spring' })).toBeVisible()
  await tags.getByRole('button', { name: 'Change tags' }).click()
  await expect(page.getByText('2 flags tagged')).toBeVisible()
  await expect(table.getByRole('row', { name: two })).toContainText('spring')

  await selectAll()
  await page.getByRole('group', { name: 'Selected flags' }).getByRole('button', { name: 'More', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Mark as stale' }).click()
  await expect(page.getByText('2 flags marked as stale')).toBeVisible()
  await expect(table.getByRole('row', { name: one })).toContainText('Stale')

  await table.getByRole('checkbox', { name: `Select ${one}` }).check()
  await page.getByRole('group', { name: 'Selected flags' }).getByRole('button', { name: 'More', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Move to a project…' }).click()
  const move = page.getByRole('dialog', { name: 'Move 1 flag' })
  await move.getByRole('combobox', { name: 'Project' }).fill(target)
  await page.getByRole('option', { name: target }).click()
  await move.getByRole('button', { name: 'Move' }).click()
  await expect(page.getByText(`1 flag moved to ${target}`)).toBeVisible()
  await expect(table.getByRole('row', { name: one })).toBeHidden()
  expect((await api('GET', `/api/admin/projects/${target}/features`)).features.map((flag: { name: string }) => flag.name)).toEqual([one])
})

test('imports a file with problems', async ({ page, api }) => {
  const check = noConsoleErrors(page, /the server responded with a status of 400/)
  const [good, bad, old] = ['good', 'bad', 'old'].map(unique) as [string, string, string]
  const id = await project(api, [old])
  const segment = unique('missing-segment')
  await page.goto(`/import?project=${id}&environment=development`)
  const form = page.getByRole('textbox', { name: 'Or paste the JSON' })
  await checkPage(page, 'import')
  await form.fill('{"features": [')
  await expect(page.getByText('This is not JSON')).toBeVisible()
  await form.fill('{"flags": []}')
  await expect(page.getByText('This is not an export: it has no list "features".')).toBeVisible()

  await form.fill(JSON.stringify({ features: [{ name: 'not a name' }] }))
  await page.getByRole('button', { name: 'Check' }).click()
  await expect(page.getByText('not a name (features/0/name): ')).toBeVisible()

  const data = {
    features: [{ name: good }, { name: bad }, { name: old, type: 'experiment' }],
    featureStrategies: [{ featureName: bad, name: 'default', segments: [77] }],
    segments: [{ id: 77, name: segment }],
  }
  await form.fill(JSON.stringify(data))
  await expect(page.getByText('3 flags, 1 strategy, 1 segment')).toBeVisible()
  await page.getByRole('button', { name: 'Check' }).click()
  const report = page.getByRole('status', { name: 'Result of the check' })
  await expect(report.getByText('Errors: the affected flags will be skipped')).toBeVisible()
  await expect(report.getByText(segment)).toBeVisible()
  await expect(report.getByRole('row', { name: old })).toContainText('type')
  await checkPage(page, 'import-report')
  await page.getByRole('button', { name: 'Import 2 flags' }).click()
  const result = page.getByRole('table', { name: 'Imported items' })
  await expect(result.getByRole('row', { name: bad })).toContainText('Skipped')
  await expect(result.getByRole('row', { name: bad })).toContainText(segment)
  await expect(result.getByRole('row', { name: old })).toContainText('Changed')
  await expect(result.getByRole('row', { name: good })).toContainText('Created')
  await expect(page.getByText('Not everything was imported')).toBeVisible()
  await checkPage(page, 'import-result')
  await result.getByRole('link', { name: good }).click()
  await expect(page).toHaveURL(`/projects/${id}/flags/${good}`)
  check()
})

test('an import into a production environment asks first, and says how many flags it switches on', async ({ page, api }) => {
  const check = noConsoleErrors(page)
  const [on, off] = ['on', 'off'].map(unique) as [string, string]
  const id = await project(api)
  const data = {
    features: [{ name: on }, { name: off }],
    featureStrategies: [on, off].map((featureName) => ({ featureName, name: 'default' })),
    featureEnvironments: [on, off].map((name) => ({ featureName: name, environment: 'development', enabled: name === on })),
  }
  await page.goto(`/import?project=${id}&environment=production`)
  await expect(page.getByRole('combobox', { name: 'Environment' }).first()).toHaveText('production Prod')
  await page.getByRole('textbox', { name: 'Or paste the JSON' }).fill(JSON.stringify(data))
  await page.getByRole('button', { name: 'Check' }).click()
  const start = page.getByRole('button', { name: /^Import/ })
  await start.click()
  const dialog = page.getByRole('dialog', { name: 'Import 2 flags into production?' })
  await expect(dialog).toContainText('Applications follow with their next request.')
  await expect(dialog).toContainText(`The file switches 1 flag on: ${on}`)
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  expect((await api('GET', `/api/admin/projects/${id}/features`)).features).toEqual([])
  await start.click()
  await dialog.getByRole('button', { name: 'Import' }).click()
  await expect(page.getByRole('table', { name: 'Imported items' }).getByRole('row', { name: off })).toContainText('Created')
  expect((await api('GET', `/api/admin/projects/${id}/features/${on}/environments/production`)).enabled).toBe(true)

  // An administrator skips change requests, and is told so before and after.
  await api('PUT', `/api/admin/projects/${id}/environments/production/change-requests/config`, { changeRequestsEnabled: true })
  await page.goto(`/import?project=${id}&environment=production`)
  const guarded = { features: [{ name: on }], featureStrategies: [], featureEnvironments: [] }
  await page.getByRole('textbox', { name: 'Or paste the JSON' }).fill(JSON.stringify(guarded))
  await page.getByRole('button', { name: 'Check' }).click()
  await expect(page.getByRole('status', { name: 'Result of the check' })).toContainText('these flags will be changed there without one: ' + on)
  await start.click()
  await page.getByRole('dialog').getByRole('button', { name: 'Import' }).click()
  await expect(page.getByRole('status', { name: 'Result of the import' })).toContainText('these flags were changed there without one: ' + on)
  await api('PUT', `/api/admin/projects/${id}/environments/production/change-requests/config`, { changeRequestsEnabled: false })
  await page.goto(`/import?project=${id}&environment=production`)
  await page.getByRole('textbox', { name: 'Or paste the JSON' }).fill(JSON.stringify(data))
  await page.getByRole('button', { name: 'Check' }).click()
  await start.click()
  await page.getByRole('dialog').getByRole('button', { name: 'Import' }).click()
  await expect(page.getByRole('table', { name: 'Imported items' }).getByRole('row', { name: on })).toContainText('Changed')

  // The file does not show what is on now: the question says what happens to it.
  await page.goto(`/import?project=${id}&environment=production`)
  const switchedOff = { ...data, featureEnvironments: [{ featureName: on, name: on, environment: 'development', enabled: false }] }
  for (const [text, effect] of [
    [data, `It overwrites 1 flag that is on: ${on}`],
    [switchedOff, `It switches 1 flag off: ${on}`],
  ] as const) {
    await page.getByRole('textbox', { name: 'Or paste the JSON' }).fill(JSON.stringify(text))
    await page.getByRole('button', { name: 'Check' }).click()
    await start.click()
    await expect(dialog).toContainText('The file switches no flag on.')
    await expect(dialog).toContainText(effect)
    await dialog.getByRole('button', { name: 'Cancel' }).click()
  }

  // Elsewhere it asks nothing.
  await page.goto(`/import?project=${id}&environment=development`)
  await page.getByRole('textbox', { name: 'Or paste the JSON' }).fill(JSON.stringify(data))
  await page.getByRole('button', { name: 'Check' }).click()
  await start.click()
  await expect(page.getByRole('table', { name: 'Imported items' }).getByRole('row', { name: on })).toContainText('Changed')
  check()
})

test('exports selected flags into a file that can be imported', async ({ page, api }) => {
  const names = ['exported', 'other'].map(unique)
  const [exported, other] = names as [string, string]
  const id = await project(api, names)
  const target = await project(api)
  await page.goto(`/projects/${id}`)
  await page.getByRole('checkbox', { name: `Select ${exported}` }).check()
  await page.getByRole('group', { name: 'Selected flags' }).getByRole('button', { name: 'More', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Export…' }).click()
  const downloaded = page.waitForEvent('download')
  await page.getByRole('dialog', { name: 'Export 1 flag' }).getByRole('button', { name: 'Export' }).click()
  const download = await downloaded
  expect(download.suggestedFilename()).toMatch(/^guidon-shop-.*-development-\d{4}-\d{2}-\d{2}\.json$/)
  const file = await download.path()
  await page.goto(`/import?project=${target}`)
  await page.getByLabel('File', { exact: true }).setInputFiles({ name: 'export.json', mimeType: 'application/json', buffer: readFileSync(file) })
  await expect(page.getByText('export.json')).toBeVisible()
  await expect(page.getByText('1 flag', { exact: true })).toBeVisible()
  // Names are unique in the service: the flag is in the other project.
  await expect(page.getByRole('status', { name: 'Result of the check' })).toContainText(exported)
  await expect(page.getByRole('status', { name: 'Result of the check' })).not.toContainText(other)
})

test('finds flags of all projects', async ({ page, api }) => {
  const check = noConsoleErrors(page)
  const word = unique('needle')
  const first = await project(api, [`${word}-a`, `${word}-b`])
  const second = await project(api, [`${word}-c`])
  await page.goto('/projects')
  await page.getByRole('button', { name: 'Search or go to…' }).click()
  await page.getByRole('combobox', { name: 'Name of a flag, project, segment, page or action' }).fill(word)
  await page.getByRole('option', { name: `Search all flags for “${word}”` }).click()
  await expect(page).toHaveURL(new RegExp(`/flags\\?q=${word}`))
  const table = page.getByRole('table', { name: 'Flags of all projects' })
  await expect(table.getByRole('link', { name: word })).toHaveText([`${word}-a`, `${word}-b`, `${word}-c`])
  await checkPage(page, 'flags-all')
  await addFilter(page, second)
  await expect(table.getByRole('link', { name: word })).toHaveText([`${word}-c`])
  await addFilter(page, first)
  await table.getByRole('button', { name: 'Name' }).click()
  await expect(table.getByRole('link', { name: word })).toHaveText([`${word}-b`, `${word}-a`])
  await page.getByRole('searchbox', { name: 'Search name or tag' }).fill(`${word}-x`)
  await expect(page.getByRole('heading', { name: 'No flag matches' })).toBeVisible()
  check()
})

test('flags of several projects are found by a tag, are favorites, say how many users get them, and are switched off at once', async ({ page, api }) => {
  const check = noConsoleErrors(page)
  const tag = unique('team')
  const names = ['a', 'b', 'c'].map((end) => unique(`across-${end}`))
  const [a, b, c] = names as [string, string, string]
  const ids = [await project(api, [a, b]), await project(api, [c])]
  const projectOf = (name: string) => (name === c ? ids[1]! : ids[0]!)
  for (const [name, rollout] of [
    [a, '10'],
    [b, '100'],
    [c, '25'],
  ] as const) {
    const production = `/api/admin/projects/${projectOf(name)}/features/${name}/environments/production`
    await api('POST', `${production}/strategies`, { name: 'flexibleRollout', parameters: { rollout, stickiness: 'default', groupId: 'g' } })
    await api('POST', `${production}/on`)
    await api('POST', `/api/admin/features/${name}/tags`, { type: 'simple', value: tag })
  }
  await page.goto('/flags')
  await addFilter(page, `simple:${tag}`)
  const table = page.getByRole('table', { name: 'Flags of all projects' })
  const order = () => table.getByRole('link', { name: 'across-' }).allTextContents()
  await expect.poll(order).toEqual([a, b, c])
  await expect(table.getByRole('row', { name: a })).toContainText('10%')
  await expect(table.getByRole('row', { name: b })).not.toContainText('%')
  await table.getByRole('button', { name: `Add ${c} to your favorites` }).click()
  await expect.poll(order).toEqual([c, a, b])
  await table.getByRole('checkbox', { name: 'Select all shown flags' }).check()
  await page.getByRole('group', { name: 'Selected flags' }).getByRole('button', { name: 'Switch off' }).click()
  await page.getByRole('menuitem', { name: 'production Prod' }).click()
  const ask = page.getByRole('dialog', { name: 'Switch 3 flags off in production?' })
  await ask.getByRole('button', { name: 'Switch off' }).click()
  await expect(page.getByText('3 flags switched off in production')).toBeVisible()
  const on = () =>
    Promise.all(names.map(async (name) => (await api('GET', `/api/admin/projects/${projectOf(name)}/features/${name}/environments/production`)).enabled))
  expect(await on()).toEqual([false, false, false])
  await page.getByRole('button', { name: 'Undo' }).click()
  await expect(page.getByText(/ was undone$/)).toBeVisible()
  expect(await on()).toEqual([true, true, true])
  check()
})

test('the form for a flag shows at its field what the naming pattern of the project wants', async ({ page, api }) => {
  const id = await project(api)
  await api('PUT', `/api/admin/projects/${id}`, { name: id, featureNaming: { pattern: 'shop-.*', example: 'shop-cart', description: 'Begin with shop-.' } })
  await page.goto(`/projects/${id}?create=true`)
  const field = page.getByRole('dialog', { name: 'Create flag' }).getByRole('textbox', { name: 'Name' })
  await field.fill(unique('cart'))
  await expect(field).toHaveAccessibleDescription(/^Must match the naming pattern "shop-\.\*".*such as "shop-cart": Begin with shop-\.$/)
  await expect(field).toHaveAttribute('aria-invalid', 'true')
})

test('in a wide window the list uses the width, and begins where the title does', async ({ page, api }) => {
  const id = await project(api, [unique('wide')])
  await page.setViewportSize({ width: 1920, height: 1080 })
  await page.goto(`/projects/${id}`)
  const edges = async (locator: ReturnType<typeof page.locator>) => {
    const { x, width } = (await locator.boundingBox())!
    return { left: Math.round(x), right: Math.round(x + width) }
  }
  const title = page.getByRole('heading', { level: 1 })
  await expect(page.getByRole('switch').first()).toBeVisible()
  const { left } = await edges(title)
  const list = await edges(page.locator('.table-box'))
  expect(list.left, 'left edge of the list').toBe(left)
  expect(list.right, 'right edge of the list').toBeGreaterThan(1840)
  await openMore(page, 'Archive')
  await expect(page.getByText('No archived flags')).toBeVisible()
  expect((await edges(title)).left, 'left edge of the title on another tab').toBe(left)
})
