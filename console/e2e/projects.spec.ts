import type { Page } from '@playwright/test'
import { checkPage, expectAccessible } from './checkpage'
import { type Api, expect, noConsoleErrors, openMore, pick, test, unique } from './fixtures'

/** Creates a project by the API and returns its id. */
async function newProject(api: Api, name: string): Promise<string> {
  const id = unique(name)
  await api('POST', '/api/admin/projects', { id, name: `The ${id}`, description: 'Everything that customers see.' })
  return id
}

/** Creates a person with the root role Viewer by the API. */
async function newPerson(api: Api, name: string): Promise<{ id: number; name: string }> {
  const username = unique(name)
  const { id } = await api('POST', '/api/admin/user-admin', { name: username, username, rootRole: 3 })
  return { id, name: username }
}

const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true })
const message = (page: Page, text: string) => page.getByRole('region', { name: 'Messages' }).getByText(text)
const undo = (page: Page, text: string) =>
  page.getByRole('region', { name: 'Messages' }).locator('.toast', { hasText: text }).getByRole('button', { name: 'Undo' }).click()

test('a team project: create it, add members, change a role, and what each may do', async ({ page, signedIn, api }) => {
  const check = noConsoleErrors(page, /400/)
  const olga = await newPerson(api, 'olga')
  const max = await newPerson(api, 'max')
  const name = unique('Team')

  await page.goto('/projects/default/access')
  await expect(page.getByRole('row', { name: /^admin/ })).toContainText('By their role Admin')
  await page.goto('/projects')
  await page.getByRole('button', { name: 'Create project' }).click()
  const dialog = page.getByRole('dialog', { name: 'Create project' })
  const production = dialog.locator('label', { hasText: 'production' })
  await expect(production.getByRole('checkbox')).toBeChecked()
  await expect(production.getByTitle('An environment of type production')).toBeVisible()
  await expect(dialog.getByText('A new flag is off in all of them.')).toBeVisible()
  await dialog.getByLabel('Name').fill(name)
  await dialog.getByLabel('Id', { exact: true }).fill('not allowed')
  await dialog.getByRole('button', { name: 'Create project' }).click()
  await expect(dialog.getByLabel('Id', { exact: true })).toHaveAttribute('aria-invalid', 'true')
  await expectAccessible(page, 'dialog with an error')
  await dialog.getByLabel('Id', { exact: true }).fill('')
  await dialog.getByRole('button', { name: 'Create project' }).click()
  await expect(page.getByRole('heading', { level: 1, name })).toBeVisible()
  const id = new URL(page.url()).pathname.split('/')[2]!

  await openMore(page, 'Access')
  for (const [person, role] of [
    [olga, 'Owner'],
    [max, 'Member'],
  ] as const) {
    await page.getByRole('button', { name: 'Add member' }).click()
    const add = page.getByRole('dialog', { name: 'Add member' })
    await add.getByLabel('Person or service account').fill(person.name)
    await page.getByRole('option', { name: person.name }).click()
    await pick(add.getByLabel('Role'), role)
    await add.getByRole('button', { name: 'Add member' }).click()
    await expect(page.getByLabel(`Role of ${person.name}`)).toHaveText(role)
  }
  await checkPage(page, 'project-access')

  // A member changes flags, but neither the project nor its members.
  const other = await signedIn(max.id)
  await other.goto(`/projects/${id}/settings`)
  await expect(other.getByLabel('Description')).toBeDisabled()
  await expect(other.getByRole('button', { name: 'Save settings' })).toHaveAttribute('aria-disabled', 'true')
  await expect(other.getByText('You need the permission “Change the project, its environments and who has access to it”').first()).toBeVisible()
  await openMore(other, 'Access')
  await expect(heading(other, 'No permission')).toBeVisible()
  await expectAccessible(other, 'access without the permission')

  await pick(page.getByLabel(`Role of ${max.name}`), 'Owner')
  await expect(message(page, `${max.name} is now Owner.`)).toBeVisible()
  await other.reload()
  await other.getByRole('button', { name: 'Add member' }).click()
  await expect(other.getByRole('dialog').getByText('Only administrators can search users.')).toBeVisible()
  const third = await newPerson(api, 'tom')
  await other.getByLabel('Id of the user').fill(String(third.id))
  await other.getByRole('dialog').getByRole('button', { name: 'Add member' }).click()
  await expect(other.getByLabel(`Role of ${third.name}`)).toHaveText('Member')

  await page.getByRole('button', { name: `Actions for ${olga.name}` }).click()
  await page.getByRole('menuitem', { name: 'Remove from the project' }).click()
  await expect(page.getByLabel(`Role of ${olga.name}`)).toBeHidden()
  await undo(page, `${olga.name} is no longer a member.`)
  await expect(page.getByLabel(`Role of ${olga.name}`)).toHaveText('Owner')

  await page.getByRole('button', { name: `Actions for ${olga.name}` }).click()
  await page.getByRole('menuitem', { name: 'Choose several roles' }).click()
  await page.getByRole('dialog').getByRole('checkbox', { name: 'Member' }).check()
  await page.getByRole('dialog').getByRole('button', { name: 'Save roles' }).click()
  await expect(page.getByRole('cell', { name: 'Owner and Member' })).toBeVisible()
  check()
})

test('archive a stale flag, undo it, and revive it from the archive', async ({ page, api }) => {
  const check = noConsoleErrors(page)
  const id = await newProject(api, 'archive')
  const flag = unique('old-banner')
  const features = `/api/admin/projects/${id}/features`
  await api('POST', features, { name: flag, type: 'release', description: 'Shown in the first week.' })
  await api('POST', `${features}/${flag}/environments/development/strategies`, { name: 'default' })
  await api('POST', `${features}/${flag}/environments/development/on`)
  await api('POST', `/api/admin/projects/${id}/stale`, { features: [flag], stale: true })
  const isOn = async () => (await api('GET', `${features}/${flag}`)).environments.find((one: { name: string }) => one.name === 'development').enabled

  await page.goto(`/projects/${id}/health`)
  const stale = page.getByRole('table', { name: 'Flags to clean up' })
  await expect(page.getByRole('meter', { name: 'Health of the project' })).toHaveAttribute('aria-valuenow', '0')
  await expect(stale.getByRole('row', { name: flag }).getByRole('cell', { name: 'development' })).toBeVisible()
  await checkPage(page, 'project-health')
  await stale.getByRole('checkbox', { name: `Select ${flag}` }).check()
  await page.getByRole('group', { name: 'Selected flags' }).getByRole('button', { name: 'Archive' }).click()
  await page
    .getByRole('dialog', { name: `Archive ${flag}?` })
    .getByRole('button', { name: 'Archive' })
    .click()
  await expect(stale.getByRole('row', { name: flag })).toBeHidden()
  await undo(page, '1 flag archived')
  await expect(stale.getByRole('row', { name: flag })).toBeVisible()
  await expect.poll(isOn).toBe(true)
  const parent = unique('shop')
  await api('POST', features, { name: parent })
  await api('POST', `${features}/${flag}/dependencies`, { feature: parent })
  const parents = async () => (await api('GET', `${features}/${flag}`)).dependencies.map((one: { feature: string }) => one.feature)
  await stale.getByRole('checkbox', { name: `Select ${flag}` }).check()
  await page.getByRole('group', { name: 'Selected flags' }).getByRole('button', { name: 'Archive' }).click()
  await page
    .getByRole('dialog', { name: `Archive ${flag}?` })
    .getByRole('button', { name: 'Archive' })
    .click()
  await expect(stale.getByRole('row', { name: flag })).toBeHidden()

  await openMore(page, 'Archive')
  await expect(page.getByRole('row', { name: flag })).toBeVisible()
  await checkPage(page, 'project-archive')
  // Two messages, one below the other, would cover the dialog at 360 px for some seconds.
  await expect(page.getByText(/ was undone$/)).toBeHidden({ timeout: 20_000 })
  await page.getByRole('button', { name: `Revive ${flag}` }).click()
  const revive = page.getByRole('dialog', { name: `Revive ${flag}?` })
  await expect(revive.getByRole('listitem')).toContainText(`was on in development and depended on ${parent}`)
  await revive.getByRole('radio', { name: 'On where it was on' }).check()
  await checkPage(page, 'project-revive')
  await revive.getByRole('button', { name: 'Revive' }).click()
  await expect(heading(page, 'No archived flags')).toBeVisible()
  await expect.poll(isOn).toBe(true)
  expect(await parents()).toEqual([parent])
  await undo(page, `${flag} is active again`)
  await page.getByRole('checkbox', { name: `Select ${flag}` }).check()
  await page.getByRole('button', { name: 'Revive 1 flag' }).click()
  await expect(revive.getByRole('radio', { name: 'Off in all environments' })).toBeChecked()
  await revive.getByRole('button', { name: 'Revive' }).click()
  await expect(heading(page, 'No archived flags')).toBeVisible()
  await expect.poll(isOn).toBe(false)
  check()
})

test('environments of a project, and the default strategy', async ({ page, api }) => {
  const check = noConsoleErrors(page, /400/)
  const id = await newProject(api, 'environments')
  const environments = async () =>
    (await api('GET', `/api/admin/environments/project/${id}`)).environments as { name: string; defaultStrategy?: { parameters: Record<string, string> } }[]
  await page.goto(`/projects/${id}/environments`)

  await page.getByRole('button', { name: 'Set the default strategy of production' }).click()
  const dialog = page.getByRole('dialog', { name: 'Default strategy in production' })
  await dialog.getByLabel('Percentage', { exact: true }).fill('200')
  await dialog.getByRole('button', { name: 'Save default strategy' }).click()
  await expect(dialog.getByLabel('Percentage', { exact: true })).toHaveAttribute('aria-invalid', 'true')
  await dialog.getByLabel('Percentage', { exact: true }).fill('20')
  await expectAccessible(page, 'dialog of the default strategy')
  await dialog.getByRole('button', { name: 'Save default strategy' }).click()
  await expect(page.getByText('20% of users.')).toBeVisible()
  await checkPage(page, 'project-environments')

  await page.getByRole('button', { name: 'Actions for production' }).click()
  await page.getByRole('menuitem', { name: 'Remove from the project' }).click()
  await expect(page.getByRole('button', { name: 'Actions for production' })).toBeHidden()
  await undo(page, 'production is removed from this project.')
  await expect(page.getByText('20% of users.')).toBeVisible()
  expect((await environments()).find(({ name }) => name === 'production')?.defaultStrategy?.parameters.rollout).toBe('20')

  await page.getByRole('button', { name: 'Actions for development' }).click()
  await page.getByRole('menuitem', { name: 'Remove from the project' }).click()
  await expect(page.getByRole('button', { name: 'Actions for development' })).toBeHidden()
  await page.getByRole('button', { name: 'Add environment' }).click()
  await page.getByRole('menuitem', { name: 'development' }).click()
  await expect(page.getByRole('button', { name: 'Actions for development' })).toBeVisible()

  // With a flag that is on, removing asks first.
  const flag = unique('on')
  await api('POST', `/api/admin/projects/${id}/features`, { name: flag })
  await api('POST', `/api/admin/projects/${id}/features/${flag}/environments/production/on`)
  await page.reload()
  await page.getByRole('button', { name: 'Actions for production' }).click()
  await page.getByRole('menuitem', { name: 'Remove from the project' }).click()
  await expect(page.getByRole('dialog')).toContainText('1 flag of this project is on in it.')
  await page.getByRole('button', { name: 'Cancel' }).click()
  expect((await environments()).map(({ name }) => name)).toContain('production')
  check()
})

test('settings of a project, and its deletion', async ({ page, api }) => {
  const check = noConsoleErrors(page, /400/)
  const id = await newProject(api, 'settings')
  await page.goto(`/projects/${id}/settings`)
  await page.getByLabel('Name (required)').fill('Web shop')
  await page.getByRole('radio', { name: 'Protected' }).check()
  await page.getByLabel('Naming pattern').fill('^shop-.*')
  await page.getByLabel('Example name').fill('checkout')
  await page.getByRole('button', { name: 'Add link' }).click()
  await page.getByRole('button', { name: 'Save settings' }).click()
  await expect(page.getByText(/must match the pattern/i)).toBeVisible()
  await page.getByLabel('Example name').fill('shop-checkout')
  await page.getByRole('button', { name: 'Save settings' }).click()
  await expect(page.getByLabel('URL')).toHaveAttribute('aria-invalid', 'true')
  await checkPage(page, 'project-settings')
  await page.getByLabel('URL').fill('https://issues.example.com/?q={{feature}}')
  await page.getByRole('button', { name: 'Save settings' }).click()
  await expect(message(page, 'The settings are saved.')).toBeVisible()
  await expect(page.getByRole('heading', { level: 1, name: 'Web shop' })).toBeVisible()
  const saved = await api('GET', `/api/admin/projects/${id}/overview`)
  expect(saved).toMatchObject({
    mode: 'protected',
    featureNaming: { pattern: '^shop-.*', example: 'shop-checkout' },
    linkTemplates: [{ title: null, urlTemplate: 'https://issues.example.com/?q={{feature}}' }],
  })

  await page.getByRole('button', { name: 'Delete project' }).click()
  const dialog = page.getByRole('dialog', { name: 'Delete Web shop?' })
  await expect(dialog.getByRole('button', { name: 'Delete project' })).toHaveAttribute('aria-disabled', 'true')
  await dialog.getByLabel(`Type ${id} to confirm`).fill(id)
  await dialog.getByRole('button', { name: 'Delete project' }).click()
  await expect(page).toHaveURL('/projects')
  await expect(page.getByRole('listitem').filter({ hasText: id })).toHaveCount(0)
  check()
})

test('a project with flags, and the default project, cannot be deleted', async ({ page, api }) => {
  const id = await newProject(api, 'kept')
  await api('POST', `/api/admin/projects/${id}/features`, { name: unique('flag') })
  await page.goto(`/projects/${id}/settings`)
  await expect(page.getByRole('button', { name: 'Delete project' })).toHaveAttribute('aria-disabled', 'true')
  await expect(page.getByText('The project has 1 active flag. Archive or move it first.').first()).toBeVisible()
  await page.goto('/projects/default/settings')
  await expect(page.getByText('The default project cannot be deleted.').first()).toBeVisible()
})

test('the list of projects: search, order and favorites', async ({ page, api }) => {
  const check = noConsoleErrors(page)
  const series = unique('list')
  const [stale, plain] = [`${series}-b`, `${series}-a`]
  for (const id of [stale, plain]) await api('POST', '/api/admin/projects', { id, name: `Name of ${id}` })
  const flag = unique('stale')
  await api('POST', `/api/admin/projects/${stale}/features`, { name: flag })
  await api('POST', `/api/admin/projects/${stale}/stale`, { features: [flag], stale: true })
  const names = page.getByRole('table', { name: 'Projects' }).getByRole('link', { name: /^Name of/ })

  await page.goto('/projects')
  await page.getByRole('searchbox', { name: 'Search projects' }).fill(series)
  await expect(names).toHaveText([`Name of ${plain}`, `Name of ${stale}`])
  await page.getByRole('table', { name: 'Projects' }).getByRole('button', { name: 'Health' }).click()
  await expect(names).toHaveText([`Name of ${stale}`, `Name of ${plain}`])
  await page.getByRole('button', { name: `Add Name of ${plain} to your favorites` }).click()
  await expect(page.getByRole('button', { name: `Remove Name of ${plain} from your favorites` })).toBeVisible()
  await expect(names).toHaveText([`Name of ${plain}`, `Name of ${stale}`])
  await checkPage(page, 'project-list')
  await page.reload()
  await expect(names).toHaveText([`Name of ${plain}`, `Name of ${stale}`])
  await page.getByRole('searchbox', { name: 'Search projects' }).fill('no such project')
  await expect(heading(page, 'No project matches')).toBeVisible()
  await page.getByRole('button', { name: 'Show all projects' }).click()
  await page.getByRole('link', { name: `Name of ${stale}` }).click()
  await expect(page).toHaveURL(`/projects/${stale}`)
  check()
})

test('the applications of a project', async ({ page, api, server }) => {
  const check = noConsoleErrors(page)
  const id = await newProject(api, 'applications')
  await page.goto(`/projects/${id}/applications`)
  await expect(heading(page, 'No application uses this project yet')).toBeVisible()
  await expectAccessible(page, 'no applications')

  const appName = unique('web-shop')
  const { secret } = await api('POST', `/api/admin/projects/${id}/api-tokens`, {
    tokenName: appName,
    type: 'client',
    environment: 'development',
    projects: [id],
  })
  const registration = {
    appName,
    instanceId: 'host-1',
    sdkVersion: 'unleash-client-node:6.1.0',
    interval: 15000,
    started: new Date().toISOString(),
    strategies: ['default'],
  }
  const response = await fetch(`${server.url}/api/client/register`, {
    method: 'POST',
    headers: { Authorization: secret, 'Content-Type': 'application/json' },
    body: JSON.stringify(registration),
  })
  expect(response.ok).toBe(true)
  await expect.poll(async () => (await api('GET', `/api/admin/projects/${id}/applications`)).total).toBe(1)
  await page.reload()
  const row = page.getByRole('row', { name: appName })
  await expect(row.getByRole('cell', { name: 'unleash-client-node 6.1.0' })).toBeVisible()
  await checkPage(page, 'project-applications')
  await page.getByRole('searchbox', { name: 'Search applications' }).fill('another')
  await expect(heading(page, 'No application matches')).toBeVisible()
  check()
})

test('a project that does not exist', async ({ page }) => {
  await page.goto('/projects/no-such-project/health')
  await expect(page.getByRole('heading', { level: 1, name: 'Project not found' })).toBeVisible()
  await page.getByRole('link', { name: 'Show all projects' }).click()
  await expect(page).toHaveURL('/projects')
})
