// What tells people who did what, whom to ask, and why a flag is on or off.
import { checkPage } from './checkpage'
import { addFilter, expect, expectUsage, noConsoleErrors, report, rollout, test, unique, type Api } from './fixtures'

test.describe.configure({ timeout: 120_000 })

/** Creates a person by the API. */
async function newPerson(api: Api, name: string, rootRole = 3) {
  const username = unique(name)
  const full = `${name} ${username.slice(name.length + 1)}`
  const { id } = await api('POST', '/api/admin/user-admin', { name: full, username, email: `${username}@example.com`, rootRole })
  return { id: id as number, name: full, username }
}

async function newProject(api: Api) {
  const project = unique('clear')
  await api('POST', '/api/admin/projects', { id: project, name: project })
  return project
}

test('the audit log finds people by their names, and says whom and what events are about', async ({ page, signedIn, api }) => {
  const check = noConsoleErrors(page)
  const project = await newProject(api)
  const anna = await newPerson(api, 'Anna', 1)
  const flag = unique('logged')
  const annas = await signedIn(anna.id)
  await annas.goto(`/projects/${project}`)
  await annas.getByRole('button', { name: 'Create flag' }).first().click()
  await annas.getByRole('dialog').getByRole('textbox', { name: 'Name' }).fill(flag)
  await annas.getByRole('dialog').getByRole('button', { name: 'Create flag' }).click()
  await expect(annas.getByRole('heading', { level: 1, name: flag })).toBeVisible()
  const environment = `/api/admin/projects/${project}/features/${flag}/environments`
  const variants = (blue: number) => [
    { name: 'blue', weight: blue, weightType: 'fix', stickiness: 'default' },
    { name: 'red', weight: 1000 - blue, weightType: 'variable', stickiness: 'default' },
  ]
  await api('PUT', `${environment}/development/variants`, variants(400))
  await api('PUT', `${environment}/production/variants`, variants(250))
  await api('POST', `/api/admin/projects/${project}/users/${anna.id}/roles/4`)
  const token = unique('till')
  await api('POST', '/api/admin/api-tokens', { tokenName: token, type: 'client', projects: [project], environment: 'development' })

  await page.goto('/audit')
  await addFilter(page, anna.name)
  const events = page.getByRole('list', { name: 'Events' })
  await expect(events.getByRole('article', { name: 'Flag created' })).toContainText(anna.name)
  await expect(events.getByRole('article', { name: 'Switched on' })).toHaveCount(0)

  // A type, several of them from a link, and production.
  await page.goto(`/audit?project=${project}&type=feature-environment-variants-updated,api-token-created,project-user-added`)
  await expect(events.getByRole('article')).toHaveCount(4)
  await expect(events.getByRole('article', { name: 'API token created' })).toContainText(`API token created: ${token}`)
  await expect(events.getByRole('article', { name: 'Project user added' })).toContainText(anna.name)
  await expect(events.getByRole('article', { name: 'Project user added' })).toContainText('Owner')
  await page.getByRole('button', { name: 'Production only' }).click()
  await expect(events.getByRole('article')).toHaveCount(1)
  await expect(events.getByRole('article').first()).toContainText('Added variant blue: 25%')
  await checkPage(page, 'audit-filtered')

  // The project has a log of its own.
  await page.goto(`/projects/${project}/log`)
  await expect(page.getByRole('list', { name: 'Events' }).getByRole('article', { name: 'Project created' })).toBeVisible()
  await checkPage(page, 'project-log')

  // Anna has signed in.
  await page.goto('/users')
  await page.getByLabel('Search users').fill(anna.username)
  await expect(page.getByRole('row', { name: new RegExp(anna.username) })).toContainText(/just now|min ago/)
  check()
})

test('members see whom to ask, who they are, and permissions in words', async ({ page, signedIn, api }) => {
  const project = await newProject(api)
  const flag = unique('asked')
  await api('POST', `/api/admin/projects/${project}/features`, { name: flag })
  const owner = await newPerson(api, 'Olga')
  const member = await newPerson(api, 'Max')
  await page.goto(`/projects/${project}`)
  await expect(page.getByText('No owner · Add one')).toBeVisible()
  await api('POST', `/api/admin/projects/${project}/users/${owner.id}/roles/4`)
  await api('POST', `/api/admin/projects/${project}/users/${member.id}/roles/5`)

  const other = await signedIn(member.id)
  await expect(other.getByRole('button', { name: `Account of ${member.name}` })).toContainText(member.name)
  await other.goto(`/projects/${project}/settings`)
  await expect(other.getByRole('link', { name: owner.name })).toHaveAttribute('href', `mailto:${owner.username}@example.com`)
  await expect(other.getByText(/You need the permission “Change the project.*Ask an owner of the project/).first()).toBeVisible()
  await expect(other.getByRole('radio', { name: /Protected/ })).toBeAttached()
  await expect(other.getByRole('radio', { name: /Private/ })).toHaveCount(0)
  await other.goto(`/projects/${project}/flags/${flag}`)
  await expect(other.getByRole('complementary', { name: `About ${flag}` })).toContainText(`${owner.name}, by the project`)
  await other.goto('/roles')
  await expect(other.getByText('needs the permission “Read roles”')).toBeVisible()
  await other.goto('/profile')
  await other.getByText(`in project ${project}`).click()
  await expect(other.getByText(/Create and clone flags/)).toBeVisible()
  await checkPage(other, 'profile-member')

  const olgas = await signedIn(owner.id)
  await olgas.goto(`/projects/${project}`)
  await expect(olgas.getByText(`${owner.name} (you)`)).toBeVisible()

  // A mode that the API has set is shown for what it is.
  await api('PUT', `/api/admin/projects/${project}`, { name: project, mode: 'private' })
  await page.goto(`/projects/${project}/settings`)
  await expect(page.getByText('Like protected: everyone who can sign in can still read the project.')).toBeVisible()
})

test('a segment is created inside the form of a strategy', async ({ page, api }) => {
  const check = noConsoleErrors(page)
  const project = await newProject(api)
  const flag = unique('segmented')
  const segment = unique('beta')
  await api('POST', `/api/admin/projects/${project}/features`, { name: flag })
  await page.goto(`/projects/${project}/flags/${flag}`)
  await page.getByRole('button', { name: 'Add strategy in development' }).click()
  const strategy = page.getByRole('dialog').filter({ hasText: 'Only if' })
  await strategy.getByRole('button', { name: 'Create segment' }).click()
  const dialog = page.getByRole('dialog', { name: 'Create segment' })
  await dialog.getByRole('textbox', { name: 'Name' }).fill(segment)
  await dialog.getByRole('button', { name: 'Create segment' }).click()
  await expect(dialog.getByText('Add a constraint: without one, everyone is in the segment.')).toBeVisible()
  await dialog.getByRole('button', { name: 'Add constraint' }).click()
  await dialog.getByRole('combobox', { name: 'Context field' }).fill('plan')
  await dialog.getByRole('combobox', { name: 'Values' }).fill('gold')
  await dialog.getByRole('combobox', { name: 'Values' }).press('Enter')
  await checkPage(page, 'segment-in-strategy')
  await dialog.getByRole('combobox', { name: 'Values' }).press('Escape')
  await page.getByRole('dialog', { name: 'Discard your changes?' }).getByRole('button', { name: 'Keep editing' }).click()
  await dialog.getByRole('button', { name: 'Create segment' }).click()
  await expect(dialog).toBeHidden()
  await expect(strategy.getByLabel(segment, { exact: true })).toBeVisible()
  await strategy.getByRole('button', { name: 'Add strategy' }).click()
  await expect(strategy).toBeHidden()
  const { environments } = await api('GET', `/api/admin/projects/${project}/features/${flag}`)
  expect(environments.find((one: { name: string }) => one.name === 'development').strategies[0].segments).toHaveLength(1)
  check()
})

test('an empty project says what to do first, and Connect has programs for more languages', async ({ page, api }) => {
  const check = noConsoleErrors(page)
  const project = await newProject(api)
  await page.goto(`/projects/${project}`)
  await expect(page.getByRole('listitem').filter({ hasText: 'Create a flag. Your code asks for its name.' })).toBeVisible()
  await page.getByRole('link', { name: 'Connect your application' }).click()
  await expect(page.getByLabel('Project', { exact: true })).toContainText(project, { ignoreCase: true })
  await page.getByRole('radio', { name: 'PHP', exact: true }).check()
  await expect(page.getByRole('region', { name: 'Program for PHP' })).toContainText('UnleashBuilder::create()')
  await expect(page.getByText('tests do not run this client')).toBeVisible()
  await checkPage(page, 'connect-other')
  await page.getByRole('radio', { name: 'Node.js', exact: true }).check()
  await expect(page.getByText('tests do not run this client')).toBeHidden()
  check()
})

test('the flag shows its use per environment, and the health of the project what can be cleaned up', async ({ page, api, baseURL }) => {
  const check = noConsoleErrors(page)
  const project = await newProject(api)
  const flag = unique('used')
  const features = `/api/admin/projects/${project}/features`
  await api('POST', features, { name: flag })
  await api('POST', `${features}/${flag}/environments/development/strategies`, rollout(100))
  await api('POST', `${features}/${flag}/environments/development/on`)
  await report(api, baseURL!, 'till', { [flag]: { yes: 12, no: 3, variants: {} } }, { project })
  await expectUsage(api, flag, 15)
  await page.goto(`/projects/${project}/flags/${flag}`)
  const rail = page.getByRole('complementary', { name: `About ${flag}` })
  await expect(rail).toContainText('development: 12 on, 3 off')
  await expect(rail.getByRole('link', { name: 'till' })).toBeVisible()
  await checkPage(page, 'flag-about')
  await page.getByRole('region', { name: 'production' }).getByRole('link', { name: 'Not used yet' }).click()
  await expect(page.getByRole('combobox', { name: 'Environment' })).toContainText('production')
  await expect(page.getByRole('combobox', { name: 'Flag' })).toHaveValue(flag)

  await page.goto(`/projects/${project}/health`)
  await expect(page.getByRole('heading', { name: 'Nothing to clean up' })).toBeVisible()
  await api('POST', `${features}/${flag}/lifecycle/complete`, { status: 'kept' })
  await page.reload()
  await expect(page.getByRole('table', { name: 'Flags to clean up' }).getByRole('row', { name: new RegExp(flag) })).toContainText('Completed')
  await checkPage(page, 'health-cleanup')
  check()
})
