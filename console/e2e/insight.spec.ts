import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import type { Page, TestInfo } from '@playwright/test'
import { checkPage } from './checkpage'
import { addFilter, expect, expectUsage, noConsoleErrors, pick, report, rollout, test, type Api, typeFilter, unique, withEarlierHours } from './fixtures'

// An SDK, screenshots and axe need more than a minute where several programs share the processors.
test.describe.configure({ timeout: 150_000 })

/** Creates a flag that is on in development for a share of the users, and returns its strategy. */
async function createFlag(api: Api, flag: string, percent = 100) {
  await api('POST', '/api/admin/projects/default/features', { name: flag })
  const environment = `/api/admin/projects/default/features/${flag}/environments/development`
  const strategy = await api('POST', `${environment}/strategies`, rollout(percent))
  await api('POST', `${environment}/on`)
  return { environment, strategy: `${environment}/strategies/${strategy.id}` }
}

test('create to SDK: the program of the page connects, the light turns green, and usage is shown', async ({ page, api }, info) => {
  const check = noConsoleErrors(page)
  const flag = unique('sdk')
  const app = unique('shop')
  await createFlag(api, flag)
  await page.goto('/connect')
  // Another test's project may be the first one.
  await pick(page.getByLabel('Project', { exact: true }), 'default')
  await page.getByLabel('Flag', { exact: true }).fill(flag)
  await page.getByLabel('Application', { exact: true }).fill(app)
  await pick(page.getByLabel('Environment', { exact: true }), 'development')
  await expect(page.getByText(`Waiting for ${app} in development`)).toBeVisible()
  await page.getByRole('button', { name: 'Create server token' }).click()
  await expect(page.getByText('You can find it again in the list of API tokens.')).toBeVisible()
  await checkPage(page, 'connect')

  const program = await page.getByRole('region', { name: 'Program for Node.js' }).innerText()
  const command = await page.getByRole('region', { name: 'Command that runs the program' }).innerText()
  expect(await run(program, command, info)).toContain('true')

  await expect(page.getByText(`${app} is connected`)).toBeVisible({ timeout: 40_000 })
  await checkPage(page, 'connect-connected')
  await expectUsage(api, flag, 1)
  await page.getByRole('link', { name: `Usage of ${flag}` }).click()
  await expect(page.getByText('1 evaluations, 100% on')).toBeVisible()
  await expect(page.getByRole('link', { name: app })).toBeVisible()
  check()
})

test('Connect says that a flag is not in the project, and keeps two changes at once', async ({ page, api }) => {
  const flag = unique('elsewhere')
  const project = unique('a-first')
  await createFlag(api, flag)
  await api('POST', '/api/admin/projects', { id: project, name: project })
  await page.goto(`/connect?project=${project}`)
  const name = page.getByLabel('Flag', { exact: true })
  await name.fill(flag)
  const missing = page.getByText(`Project ${project} has no flag ${flag}, so the program prints false.`)
  await expect(missing).toBeVisible()
  await pick(page.getByLabel('Project', { exact: true }), 'default')
  await name.fill(flag)
  await expect(page.getByRole('region', { name: 'Program for Node.js' })).toContainText(flag)
  await expect(page.getByText(/so the program prints false/)).toHaveCount(0)

  await page.evaluate(() => {
    const setValue = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')!.set!
    for (const input of document.querySelectorAll<HTMLInputElement>('.connect input[type="text"], .connect input[role="combobox"]')) {
      setValue.call(input, `${input.value}-2`)
      input.dispatchEvent(new Event('input', { bubbles: true }))
    }
  })
  await expect(page).toHaveURL(new RegExp(`flag=${flag}-2`))
  await expect(page).toHaveURL(/app=my-app-2/)
})

/** Runs a program as a person would who pastes it: the file and then the command. The SDK is installed in this package. */
function run(program: string, command: string, info: TestInfo): Promise<string> {
  writeFileSync(info.outputPath('app.mjs'), program)
  return new Promise((resolve, reject) => {
    execFile('sh', ['-c', command], { cwd: info.outputDir, timeout: 45_000 }, (error, stdout, stderr) =>
      error ? reject(new Error(`${error.message}\n${stderr}`)) : resolve(stdout),
    )
  })
}

test('a change of the rollout is seen in the usage of a flag', async ({ page, api, baseURL }) => {
  const check = noConsoleErrors(page)
  const flag = unique('gradual')
  const app = unique('till')
  const { strategy } = await createFlag(api, flag, 10)
  const variants = ['blue', 'red'].map((name) => ({ name, weight: 500, weightType: 'variable', stickiness: 'default' }))
  await api('PUT', `/api/admin/projects/default/features/${flag}/environments/development/variants`, variants)
  await page.goto(`/projects/default/flags/${flag}/usage`)
  await expect(page.getByRole('heading', { name: 'No usage in this time' })).toBeVisible()
  await expect(page.getByRole('link', { name: 'Connect an application' })).toHaveAttribute('href', new RegExp(flag))
  await checkPage(page, 'usage-empty')

  await report(api, baseURL!, app, { [flag]: { yes: 10, no: 90, variants: {} } })
  await expectUsage(api, flag, 100)
  await page.reload()
  await expect(page.getByText('100 evaluations, 10% on')).toBeVisible()
  // One hour is no chart.
  await expect(page.getByRole('table', { name: 'Evaluations by time' })).toBeVisible()

  await api('PUT', strategy, rollout(50))
  await report(api, baseURL!, app, { [flag]: { yes: 50, no: 50, variants: { blue: 30, red: 20 } } })
  await expectUsage(api, flag, 200)
  await withEarlierHours(page, [0.5])
  await page.reload()
  await expect(page.getByRole('img', { name: `Evaluations of ${flag}: 90 on, 210 off.` })).toBeVisible()
  await expect(page.getByText('Strategy changed in development: Rollout 10% → 50%')).toBeVisible()
  await expect(page.getByRole('meter', { name: 'Share of blue' })).toHaveAttribute('aria-valuenow', '60')
  await checkPage(page, 'usage')
  await page.getByRole('button', { name: 'Show as table' }).click()
  await expect(page.getByRole('table', { name: 'Evaluations by time' })).toBeVisible()
  await checkPage(page, 'usage-table')
  await pick(page.getByLabel('Application', { exact: true }), app)
  await expect(page).toHaveURL(new RegExp(`app=${app}`))
  check()
})

test('an open question whether to archive follows the use of the flag, which is told to the hour', async ({ page, api, baseURL }) => {
  const check = noConsoleErrors(page)
  const [project, flag, app] = [unique('used'), unique('used'), unique('user')]
  await api('POST', '/api/admin/projects', { id: project, name: project })
  await api('POST', `/api/admin/projects/${project}/features`, { name: flag })
  await api('POST', `/api/admin/projects/${project}/stale`, { features: [flag], stale: true })
  await page.goto(`/projects/${project}/health`)
  await page.getByRole('checkbox', { name: `Select ${flag}` }).check()
  await page.getByRole('button', { name: 'Archive', exact: true }).click()
  const question = page.getByRole('dialog', { name: `Archive ${flag}?` })
  await expect(question.getByText('not used yet')).toBeVisible()
  await report(api, baseURL!, app, { [flag]: { yes: 1, no: 2, variants: {} } }, { project })
  await expectUsage(api, flag, 3)
  await expect(question.getByText('last used < 1 h ago')).toBeVisible({ timeout: 30_000 })
  await checkPage(page, 'archive-used')

  await page.goto(`/projects/${project}/flags/${flag}`)
  await expect(page.getByText('Used < 1 h ago')).toBeVisible()
  await page.goto(`/projects/${project}/flags/${flag}/usage?hours=1`)
  await expect(page.getByLabel('Time', { exact: true })).toContainText('Last 24 hours')
  await page.getByLabel('Time', { exact: true }).click()
  await expect(page.getByRole('option', { name: 'Last 24 hours' })).toBeVisible()
  await expect(page.getByRole('option', { name: 'Last hour' })).toHaveCount(0)
  await page.goto(`/applications/${app}`)
  await expect(page.getByRole('table', { name: 'Flags' }).getByRole('row', { name: flag }).getByText('< 1 h ago')).toBeVisible()
  await expect(page.getByRole('table', { name: 'Instances' }).getByText('< 15 min ago')).toBeVisible()
  check()
})

test('a flag names the applications with an SDK that does not know an operator', async ({ page, api, baseURL }) => {
  const check = noConsoleErrors(page)
  const [flag, old, current] = [unique('network'), unique('old'), unique('current')]
  const { environment } = await createFlag(api, flag)
  await api('POST', `${environment}/strategies`, {
    ...rollout(100),
    constraints: [{ contextName: 'remoteAddress', operator: 'IN_CIDR', values: ['10.0.0.0/8'] }],
  })
  await report(api, baseURL!, old, { [flag]: { yes: 1, no: 0, variants: {} } }, { sdkVersion: 'unleash-client-java:12.1.0' })
  await report(api, baseURL!, current, { [flag]: { yes: 1, no: 0, variants: {} } })
  await expectUsage(api, flag, 2)
  await page.goto(`/projects/default/flags/${flag}`)
  const panel = page.getByRole('region', { name: 'development' })
  await expect(panel).toContainText(`An SDK of ${old} does not know the operator “is in the network”. There, strategies with it apply to no one.`)
  await expect(panel).not.toContainText(`An SDK of ${current}`)
  check()
})

test('the history of a flag and the audit log show what a change changed', async ({ page, api }) => {
  const check = noConsoleErrors(page)
  const flag = unique('audited')
  const { strategy } = await createFlag(api, flag, 20)
  await api('PUT', strategy, rollout(60))
  await page.goto(`/projects/default/flags/${flag}/history`)
  const change = page.getByRole('article', { name: 'Strategy changed' })
  await expect(change).toContainText('Rollout 20% → 60%')
  await change.getByRole('button', { name: 'Show the details' }).click()
  await change.getByText('JSON', { exact: true }).click()
  const diff = change.getByRole('region', { name: 'Strategy changed: state before and after' })
  await expect(diff).toContainText('"rollout": "20"')
  await expect(diff).toContainText('"rollout": "60"')
  await checkPage(page, 'history')

  await page.goto('/audit')
  await typeFilter(page, 'Flag', flag)
  await expect(page.getByRole('article')).toHaveCount(4)
  await addFilter(page, 'Strategy changed')
  await expect(page.getByRole('article')).toHaveCount(1)
  await expect(page.getByRole('article', { name: 'Strategy changed' })).toContainText(flag)
  await checkPage(page, 'audit')
  await page.reload()
  await expect(page.getByRole('article')).toHaveCount(1)
  await typeFilter(page, 'Person or token', 'no-such-person')
  await expect(page.getByRole('heading', { name: 'No event matches' })).toBeVisible()
  await page.getByRole('button', { name: 'Clear', exact: true }).click()
  await expect(page.getByRole('article').nth(4)).toBeVisible()
  check()
})

test('the playground says why a flag is on or off', async ({ page, api }) => {
  const check = noConsoleErrors(page)
  const flag = unique('reasons')
  const project = unique('play')
  await api('POST', '/api/admin/projects', { id: project, name: project })
  await api('POST', `/api/admin/projects/${project}/features`, { name: flag })
  const environment = `/api/admin/projects/${project}/features/${flag}/environments/development`
  const segment = await api('POST', '/api/admin/segments', { name: unique('adults'), constraints: [{ contextName: 'age', operator: 'NUM_GTE', value: '18' }] })
  await api('POST', `${environment}/strategies`, {
    ...rollout(100),
    title: 'gold in Norway',
    constraints: [{ contextName: 'plan', operator: 'IN', values: ['gold'] }],
    segments: [segment.id],
  })
  await api('POST', `${environment}/on`)
  await page.goto(`/playground?environments=development&projects=${project}&context=${encodeURIComponent('plan=gold&age=16')}`)
  const row = page.getByRole('row').filter({ hasText: flag })
  await expect(row).toContainText('It applies only in the segment')
  await row.getByRole('button', { name: flag }).click()
  const dialog = page.getByRole('dialog', { name: flag })
  await expect(dialog).toContainText('Does not hold:in the segment')
  await expect(dialog).toContainText('Holds:plan is one of gold')
  await checkPage(page, 'playground-reasons')
  await page.goBack()
  await expect(dialog).toBeHidden()
  await page.getByLabel('Value of age').fill('18')
  await page.getByRole('button', { name: 'Evaluate' }).click()
  await expect(row).toContainText('gold in Norway matches.')
  await expect(page).toHaveURL(/age%3D18/)
  await page.getByLabel('Value of age').fill('16,18')
  await page.getByRole('button', { name: 'Evaluate' }).click()
  await expect(row).toHaveCount(1)
  await expect(page.getByRole('row', { name: /age 16.*Off/ })).toBeVisible()
  await expect(page.getByRole('row', { name: /age 18.*On/ })).toBeVisible()
  await checkPage(page, 'playground')
  check()
})

test('the playground shows an environment in a column', async ({ page, api }) => {
  const flag = unique('a-long-name-of-a-flag-that-must-stay-readable')
  await createFlag(api, flag, 0)
  const production = `/api/admin/projects/default/features/${flag}/environments/production`
  await api('POST', `${production}/strategies`, rollout(100))
  await api('POST', `${production}/on`)
  await page.goto(`/projects/default/flags/${flag}`)
  await page.getByRole('link', { name: 'Try it for a user' }).click()
  const rows = page.getByRole('table', { name: 'Results' }).getByRole('row')
  await expect(rows.nth(0)).toContainText('production')
  await expect(rows.nth(1)).toContainText(/Off.*On/)
  // The form marks production as well: the chosen environments, and those to choose from.
  await expect(page.getByLabel('production Prod').getByText('Prod', { exact: true })).toBeVisible()
  await page.getByRole('button', { name: 'Remove production' }).click()
  await page.getByRole('combobox', { name: 'Environments' }).click()
  await expect(page.getByRole('option', { name: 'production' })).toContainText('Prod')
  await expect(page.getByRole('option', { name: 'development' })).not.toContainText('Prod')
  await page.keyboard.press('Escape')
  expect((await rows.nth(1).getByRole('button', { name: flag }).boundingBox())!.height, 'lines of the name').toBeLessThan(70)
  await checkPage(page, 'playground-environments')
})

test('the playground starts with an environment, and evaluates flags', async ({ page, api }) => {
  const flag = unique('first')
  await createFlag(api, flag)
  await page.goto('/playground')
  await expect(page.getByRole('heading', { name: 'Evaluate flags' })).toBeVisible()
  await checkPage(page, 'playground-empty')
  await page.getByRole('button', { name: 'Evaluate' }).click()
  await page.getByLabel('Search flags').fill(flag)
  await expect(page.getByRole('row').filter({ hasText: flag })).toContainText('Gradual rollout matches')
})

test('applications show instances, SDKs and issues', async ({ page, api, baseURL }) => {
  const check = noConsoleErrors(page, /404/)
  const flag = unique('known')
  const app = unique('kiosk')
  await createFlag(api, flag)
  await page.goto(`/applications/${app}`)
  await expect(page.getByRole('heading', { name: `There is no application ${app}` })).toBeVisible()
  await report(api, baseURL!, app, { [flag]: { yes: 1, no: 1, variants: {} }, [`${flag}-misspelled`]: { yes: 0, no: 1, variants: {} } })
  await expectUsage(api, flag, 2)
  await page.goto('/applications')
  await page.getByLabel('Search applications').fill(app)
  await expect(page.getByRole('row')).toHaveCount(2)
  await checkPage(page, 'applications')
  await page.getByRole('link', { name: app }).click()
  await expect(page.getByRole('heading', { level: 1, name: app })).toBeFocused()
  await expect(page.getByRole('table', { name: 'Instances' })).toContainText('host-1')
  await expect(page.getByRole('table', { name: 'Environments' })).toContainText(`${flag}-misspelled`)
  await expect(page.getByRole('table', { name: 'Flags' }).getByRole('link', { name: flag })).toBeVisible()
  await checkPage(page, 'application')
  await describe(page, app)
  await page.getByRole('button', { name: `Actions for ${app}` }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await page.getByRole('button', { name: 'Delete application' }).click()
  await expect(page).toHaveURL('/applications')
  check()
})

async function describe(page: Page, app: string) {
  await page.getByRole('button', { name: `Actions for ${app}` }).click()
  await page.getByRole('menuitem', { name: 'Edit description' }).click()
  const dialog = page.getByRole('dialog', { name: `Edit ${app}` })
  await dialog.getByLabel('Description').fill('Screens in the shops')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await expect(dialog).toBeHidden()
  await expect(page.getByText('Screens in the shops')).toBeVisible()
}
