// Change requests with two and three people: each has a browser context of their own.
import type { Page } from '@playwright/test'
import { readFile } from 'node:fs/promises'
import { checkPage } from './checkpage'
import { type Api, expect, noConsoleErrors, pick, type SignedIn, test, unique } from './fixtures'

const owner = 4
const member = 5

/** A project whose production is protected, with a flag that is on there for 10%. */
async function protectedProject(api: Api, requiredApprovals = 1) {
  const project = unique('shop')
  const flag = unique('payment')
  await api('POST', '/api/admin/projects', { id: project, name: project })
  await api('POST', `/api/admin/projects/${project}/features`, { name: flag })
  const production = `/api/admin/projects/${project}/features/${flag}/environments/production`
  const strategy = await api<{ id: string }>('POST', `${production}/strategies`, {
    name: 'flexibleRollout',
    parameters: { rollout: 10, stickiness: 'default', groupId: flag },
  })
  await api('POST', `${production}/on`)
  await api('PUT', `/api/admin/projects/${project}/environments/production/change-requests/config`, { changeRequestsEnabled: true, requiredApprovals })
  const percent = async () => {
    const { strategies } = await api<{ strategies: { parameters: { rollout: string } }[] }>('GET', production)
    return strategies[0]?.parameters.rollout
  }
  return { project, flag, strategy: strategy.id, percent, page: `/projects/${project}/flags/${flag}`, path: production }
}

/** A role of the project with permissions in production. */
async function roleWith(api: Api, permissions: string[]): Promise<number> {
  const { roles } = await api<{ roles: { id: number } }>('POST', '/api/admin/roles', {
    name: unique('role'),
    type: 'custom',
    permissions: permissions.map((name) => ({ name, environment: 'production' })),
  })
  return roles.id
}

/** A signed-in person with roles in a project. */
async function person(signedIn: SignedIn, api: Api, name: string, project: string, roles: number[]): Promise<Page> {
  const { id } = await api<{ id: number }>('POST', '/api/admin/user-admin', { name, email: `${name}@example.com`, rootRole: 3 })
  for (const role of roles) await api('POST', `/api/admin/projects/${project}/users/${id}/roles/${role}`)
  return signedIn(id)
}

/** Sets the percentage of the only strategy in production in the form, which adds the change to a draft. */
async function propose(page: Page, percent: number) {
  await page.getByRole('button', { name: 'Edit strategy in production' }).click()
  const dialog = page.getByRole('dialog', { name: 'Strategy in production' })
  await dialog.getByRole('spinbutton', { name: 'Percentage' }).fill(String(percent))
  await dialog.getByRole('button', { name: 'Add to draft' }).click()
  await expect(dialog).toBeHidden()
}

/** Switches off in the protected environment, which goes into the draft. */
async function draftOff(page: Page, flag: string, environment = 'production') {
  await page.getByRole('switch', { name: `${flag} in ${environment}` }).click()
  const dialog = page.getByRole('dialog', { name: 'Not off yet: 1 approval needed' })
  await dialog.getByRole('button', { name: 'Add to draft' }).click()
  await expect(dialog).toBeHidden()
}

async function send(page: Page, title: string) {
  await page.getByRole('link', { name: 'Review and send' }).click()
  await page.getByRole('button', { name: 'Send to review' }).click()
  const dialog = page.getByRole('dialog', { name: /^Send \d+ changes? to review$/ })
  await dialog.getByRole('textbox', { name: 'Title' }).fill(title)
  await dialog.getByRole('textbox', { name: 'Comment' }).fill('The numbers of the test look good.')
  await dialog.getByRole('button', { name: 'Send to review' }).click()
  await expect(page.getByRole('heading', { level: 1, name: title })).toBeVisible()
}

async function confirm(page: Page, action: 'Approve' | 'Apply' | 'Reject' | 'Cancel request') {
  await page.getByRole('button', { name: action, exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: action, exact: true }).click()
  await expect(dialog).toBeHidden()
}

test('a comment on an approval is not lost with Escape or Cancel, and people and the project have their names', async ({ signedIn, api }) => {
  const { project, page: flagPage } = await protectedProject(api)
  await api('PUT', `/api/admin/projects/${project}`, { name: `Shop ${project}` })
  const name = unique('Anna')
  const anna = await person(signedIn, api, name, project, [member])
  const ben = await person(signedIn, api, unique('ben'), project, [await roleWith(api, ['APPROVE_CHANGE_REQUEST'])])
  await anna.goto(flagPage)
  await propose(anna, 60)
  await send(anna, 'With a comment')
  await ben.goto(anna.url())
  await expect(ben.getByText(`by ${name}, `)).toBeVisible()
  await expect(ben.getByRole('navigation', { name: 'Breadcrumbs' })).toContainText(`Shop ${project}`)
  await ben.getByRole('button', { name: 'Approve' }).click()
  const dialog = ben.getByRole('dialog', { name: /^Approve 1 change/ })
  const comment = dialog.getByRole('textbox', { name: 'Comment' })
  await comment.fill('The error rate did not change.')
  const discard = ben.getByRole('dialog', { name: 'Discard your changes?' })
  for (const leave of [() => comment.press('Escape'), () => dialog.getByRole('button', { name: 'Cancel' }).click()]) {
    await leave()
    await discard.getByRole('button', { name: 'Keep editing' }).click()
    await expect(comment).toHaveValue('The error rate did not change.')
  }
  await dialog.getByRole('button', { name: 'Approve' }).click()
  await expect(dialog).toBeHidden()
  await expect(ben.getByText('The error rate did not change.')).toBeVisible()
})

const isOpenRequest = (page: Page) => page.waitForURL(/\/change-requests\/\d+$/)

test('one person proposes, a second one approves, and the first one applies', async ({ signedIn, api }) => {
  const { project, flag, percent, page: flagPage } = await protectedProject(api)
  const anna = await person(signedIn, api, unique('anna'), project, [member, await roleWith(api, ['APPLY_CHANGE_REQUEST'])])
  const ben = await person(signedIn, api, unique('ben'), project, [await roleWith(api, ['APPROVE_CHANGE_REQUEST'])])
  const checks = [noConsoleErrors(anna), noConsoleErrors(ben)]

  // What Anna does in production is added to a draft: neither the form nor the switch changes anything.
  await anna.goto(flagPage)
  const production = anna.getByRole('region', { name: 'production' })
  await expect(production).toContainText('Changes need 1 approval')
  await propose(anna, 60)
  await expect(production.getByRole('article', { name: /^Strategy 1/ })).toContainText('In draft Rollout 10% → 60%')
  await draftOff(anna, flag)
  await expect(anna.getByRole('region', { name: 'production' })).toContainText('In draft Switch off')
  await expect(anna.getByRole('switch', { name: `${flag} in production` })).toBeChecked()
  expect(await percent()).toBe('10')
  await checkPage(anna, 'request-draft-bar')

  // She looks at the draft, takes the switch out again, and sends the rest.
  await anna.getByRole('link', { name: 'Review and send' }).click()
  await isOpenRequest(anna)
  await expect(anna.getByRole('article', { name: /^Change strategy: .*60% of users/ })).toContainText('10% of users → 60% of users')
  await anna.getByRole('button', { name: 'Remove this change: Switch off' }).click()
  await expect(anna.getByRole('article', { name: 'Switch off' })).toHaveCount(0)
  await checkPage(anna, 'request-draft')
  await anna.goto(flagPage)
  const title = 'Sell more by the new payment'
  await send(anna, title)
  await expect(anna.getByRole('button', { name: 'Approve' })).toHaveAccessibleDescription('Someone else has to approve what you propose.')
  expect(await percent()).toBe('10')

  // Ben finds it in his inbox.
  await ben.goto('/projects')
  await expect(ben.getByRole('link', { name: /^Change requests 1 waiting for you$/ })).toBeVisible()
  await ben.getByRole('link', { name: /^Change requests/ }).click()
  await checkPage(ben, 'request-inbox')
  await ben.getByRole('link', { name: title }).click()
  await expect(ben.getByRole('article', { name: /^Change strategy: .*60% of users/ })).toContainText('10% of users → 60% of users')
  await expect(ben.getByText('The numbers of the test look good.')).toBeVisible()
  await checkPage(ben, 'request-review')
  await confirm(ben, 'Approve')
  await expect(ben.getByText('It is approved and can be applied.')).toBeVisible()
  await expect(ben.getByRole('link', { name: 'Change requests', exact: true }).first()).toBeVisible()
  expect(await percent()).toBe('10')

  // So many events that the server returns them in two pages.
  const asked = 110
  const request = `/api/admin/projects/${project}/change-requests/${new URL(anna.url()).pathname.split('/').at(-1)}`
  const { reviewers } = await api<{ reviewers: { id: number }[] }>('GET', `/api/admin/projects/${project}/change-requests/available-reviewers/production`)
  for (let n = 0; n < asked; n++) await api('PUT', `${request}/approvers`, { reviewers: n % 2 ? [] : [reviewers[0]!.id] })
  await anna.reload()
  await confirm(anna, 'Apply')
  await expect(anna.getByText(/^Applied .* by anna/)).toBeVisible()
  const download = anna.waitForEvent('download')
  await anna.getByRole('button', { name: 'Download record' }).click()
  expect((await download).suggestedFilename()).toMatch(/^change-request-\d+\.json$/)
  const evidence = JSON.parse(await readFile(await (await download).path(), 'utf8'))
  expect(evidence).toMatchObject({ changeRequest: { title } })
  const types = evidence.events.map(({ type }: { type: string }) => type)
  expect(types[0]).toBe('change-request-created')
  expect(types.filter((type: string) => type === 'change-request-requested-approvers-updated')).toHaveLength(asked)
  expect(types.at(-1)).toBe('change-request-applied')
  expect(await percent()).toBe('60')
  await checkPage(anna, 'request-applied')

  // The log shows the application as one group, with a link to the request.
  await anna.goto(`/projects/${project}/log`)
  await anna
    .getByRole('list', { name: /^Application of change request #\d+$/ })
    .getByRole('article', { name: 'Strategy changed' })
    .waitFor()
  await checkPage(anna, 'request-log')
  await anna.goto(`/projects/${project}/change-requests?state=closed`)
  await expect(anna.getByRole('row', { name: new RegExp(title) })).toContainText('Applied')
  await checkPage(anna, 'requests')
  for (const check of checks) check()
})

test('the author asks for reviews, and the reviewer is told', async ({ signedIn, api }) => {
  const { project, page: flagPage } = await protectedProject(api)
  const [author, name, other] = [unique('anna'), unique('ben'), unique('carla')]
  const role = await roleWith(api, ['APPROVE_CHANGE_REQUEST'])
  const anna = await person(signedIn, api, author, project, [member, role])
  const ben = await person(signedIn, api, name, project, [role])
  const carla = await person(signedIn, api, other, project, [member])
  await anna.goto(flagPage)
  await propose(anna, 60)
  await send(anna, 'Who looks at this?')
  await expect(anna.getByText('Asked to review: no one yet')).toBeVisible()
  await anna.getByRole('button', { name: 'Ask reviewers' }).click()
  const dialog = anna.getByRole('dialog', { name: 'Who should review it?' })
  await dialog.getByRole('combobox', { name: 'Reviewers' }).click()
  // Neither the author nor people who may not approve can be asked.
  await expect(anna.getByRole('option', { name })).toBeVisible()
  await expect(anna.getByRole('option', { name: new RegExp(`${author}|${other}`) })).toHaveCount(0)
  await anna.getByRole('option', { name }).click()
  await dialog.getByRole('combobox', { name: 'Reviewers' }).press('Escape')
  await expect(anna.getByRole('option')).toHaveCount(0)
  await checkPage(anna, 'request-reviewers')
  await dialog.getByRole('button', { name: 'Save reviewers' }).click()
  await expect(anna.getByText(`Asked to review: ${name}`)).toBeVisible()
  await carla.goto(anna.url())
  await expect(carla.getByText(`Asked to review: ${name}`)).toBeVisible()
  await expect(carla.getByRole('button', { name: 'Ask reviewers' })).toHaveCount(0)
  await ben.goto('/change-requests')
  await expect(ben.getByRole('row', { name: /Who looks at this/ })).toContainText('You were asked')
})

test('what a person has approved no longer waits for that person', async ({ signedIn, api }) => {
  const { project, page: flagPage } = await protectedProject(api, 2)
  const anna = await person(signedIn, api, unique('anna'), project, [member])
  const ben = await person(signedIn, api, unique('ben'), project, [await roleWith(api, ['APPROVE_CHANGE_REQUEST'])])
  await anna.goto(flagPage)
  await propose(anna, 60)
  const title = unique('Two have to approve')
  await send(anna, title)
  await ben.goto('/change-requests')
  const waiting = ben.getByRole('table', { name: 'Change requests that wait for you' })
  await expect(waiting.getByRole('row', { name: new RegExp(title) })).toBeVisible()
  await waiting.getByRole('link', { name: title }).click()
  await confirm(ben, 'Approve')
  await ben.goto('/change-requests')
  await expect(ben.getByText('Nothing waits for you')).toBeVisible()
  await expect(ben.getByRole('link', { name: 'Change requests', exact: true }).first()).toBeVisible()
})

test('who switches off in a protected environment is told that it stays on, and sends it to review at once', async ({ page, signedIn, api }) => {
  const { project, flag, page: flagPage } = await protectedProject(api)
  const anna = await person(signedIn, api, unique('anna'), project, [owner])
  const name = unique('ben')
  const ben = await person(signedIn, api, name, project, [await roleWith(api, ['APPROVE_CHANGE_REQUEST'])])
  await anna.goto(flagPage)
  await anna.getByRole('switch', { name: `${flag} in production` }).click()
  const dialog = anna.getByRole('dialog', { name: 'Not off yet: 1 approval needed' })
  await expect(dialog).toContainText(new RegExp(`${name}.* can approve it\\. Until then ${flag} stays on in production\\.`))
  await expect(dialog.getByRole('button', { name: 'Switch off now' })).toHaveCount(0)
  await expect(dialog.getByRole('button', { name: 'Send to review now' })).toBeFocused()
  await checkPage(anna, 'request-not-off')
  await anna.keyboard.press('Enter')
  await expect(anna.getByText(`“Switch off ${flag}” in review`)).toBeVisible()
  await expect(anna.getByRole('switch', { name: `${flag} in production` })).toBeChecked()
  await ben.goto('/change-requests')
  await ben
    .getByRole('table', { name: 'Change requests that wait for you' })
    .getByRole('link', { name: `Switch off ${flag}` })
    .click()
  await confirm(ben, 'Approve')

  // An administrator is led to the setting, and need not wait.
  await page.goto(flagPage)
  const toggle = page.getByRole('switch', { name: `${flag} in production` })
  await toggle.click()
  await page.getByRole('link', { name: 'Change requests in production' }).click()
  const setting = page.getByRole('dialog', { name: 'Change requests in production' })
  await expect(setting.getByRole('checkbox', { name: 'Switching off needs no change request' })).not.toBeChecked()
  await page.goBack()
  await toggle.click()
  await page.getByRole('button', { name: 'Switch off now' }).click()
  await expect(toggle).not.toBeChecked()
})

test('an edit after the approval ends it', async ({ signedIn, api }) => {
  const { project, flag, page: flagPage } = await protectedProject(api)
  const anna = await person(signedIn, api, unique('anna'), project, [member, await roleWith(api, ['APPLY_CHANGE_REQUEST'])])
  const ben = await person(signedIn, api, unique('ben'), project, [await roleWith(api, ['APPROVE_CHANGE_REQUEST'])])
  await anna.goto(flagPage)
  await propose(anna, 60)
  await draftOff(anna, flag)
  await expect(anna.getByRole('region', { name: 'production' })).toContainText('In draft Switch off')
  await send(anna, 'Two changes')
  await ben.goto(anna.url())
  await confirm(ben, 'Approve')
  await anna.reload()
  await expect(anna.getByRole('button', { name: 'Apply' })).toBeVisible()
  await anna.getByRole('button', { name: /^Edit this change: Change strategy: .*60% of users/ }).click()
  const editor = anna.getByRole('dialog', { name: 'Proposed strategy in production' })
  await expect(editor.getByRole('spinbutton', { name: 'Percentage' })).toHaveValue('60')
  await editor.getByRole('spinbutton', { name: 'Percentage' }).fill('30')
  await editor.getByRole('button', { name: 'Save in the request' }).click()
  await expect(anna.getByRole('article', { name: /^Change strategy: .*30% of users/ })).toContainText('10% of users → 30% of users')
  await expect(anna.getByText('0 of 1 approval')).toBeVisible()
  await expect(anna.getByRole('button', { name: 'Apply' })).toHaveCount(0)

  // After another approval, removing a change ends that one, too.
  await ben.reload()
  await confirm(ben, 'Approve')
  await anna.reload()
  await anna.getByRole('button', { name: 'Remove this change: Switch off' }).click()
  const dialog = anna.getByRole('dialog', { name: 'Remove this change from the request?' })
  await dialog.getByRole('button', { name: 'Remove change' }).click()
  await expect(anna.getByText('0 of 1 approval')).toBeVisible()
  await expect(anna.getByRole('button', { name: 'Apply' })).toHaveCount(0)
})

test('who approves an outdated page is told, and approves nothing', async ({ signedIn, api }) => {
  const { project, flag, page: flagPage } = await protectedProject(api)
  const anna = await person(signedIn, api, unique('anna'), project, [member])
  const ben = await person(signedIn, api, unique('ben'), project, [await roleWith(api, ['APPROVE_CHANGE_REQUEST'])])
  await anna.goto(flagPage)
  await propose(anna, 60)
  await draftOff(anna, flag)
  await expect(anna.getByRole('region', { name: 'production' })).toContainText('In draft Switch off')
  await send(anna, 'Moving target')
  await ben.goto(anna.url())
  await ben.getByRole('button', { name: 'Approve' }).click()
  await anna.getByRole('button', { name: 'Remove this change: Switch off' }).click()
  await anna.getByRole('dialog').getByRole('button', { name: 'Remove change' }).click()
  await expect(anna.locator('article[aria-label="Switch off"]')).toHaveCount(0) // a role is not seen behind the question
  // The dialog is about the version that Ben has looked at.
  const refused = async () => {
    const answer = ben.waitForResponse((response) => response.url().endsWith('/state'))
    await ben.getByRole('dialog').getByRole('button', { name: 'Approve' }).click()
    expect((await answer).status()).toBe(412)
    await expect(ben.getByRole('alert')).toContainText('The change request has changed since this page showed it.')
  }
  await refused()
  // The page behind it shows the new version now, which he has not looked at.
  await expect(ben.locator('article[aria-label="Switch off"]')).toHaveCount(0)
  await refused()
  await ben.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  await expect(ben.getByText('0 of 1 approval')).toBeVisible()
  await confirm(ben, 'Approve')
  await expect(ben.getByText('It is approved and can be applied.')).toBeVisible()
})

test('a change underneath is a conflict, which the author accepts and the reviewer approves again', async ({ signedIn, api }) => {
  const { project, flag, strategy, path, percent, page: flagPage } = await protectedProject(api)
  const anna = await person(signedIn, api, unique('anna'), project, [member])
  const ben = await person(signedIn, api, unique('ben'), project, [await roleWith(api, ['APPROVE_CHANGE_REQUEST'])])
  const carla = await person(signedIn, api, unique('carla'), project, [member, await roleWith(api, ['APPLY_CHANGE_REQUEST'])])
  await anna.goto(flagPage)
  await propose(anna, 60)
  await send(anna, 'Sixty percent')
  await ben.goto(anna.url())
  await confirm(ben, 'Approve')
  // An administrator changes the strategy directly.
  await api('PUT', `${path}/strategies/${strategy}`, { name: 'flexibleRollout', parameters: { rollout: 25, stickiness: 'default', groupId: flag } })

  await carla.goto(anna.url())
  const conflict = carla.getByText(`Someone changed ${flag} after this was proposed`)
  await expect(conflict).toBeVisible()
  await expect(carla.getByRole('button', { name: 'Update request' })).toHaveAccessibleDescription(/Only anna.* and administrators can do this\./)
  await checkPage(carla, 'request-conflict')
  await anna.reload()
  await expect(anna.getByRole('article', { name: /^Change strategy: .*60% of users/ })).toContainText('25% of users → 60% of users')
  await anna.getByRole('button', { name: 'Update request' }).click()
  await expect(anna.getByText(/^Someone changed/)).toHaveCount(0)
  await expect(anna.getByText('0 of 1 approval')).toBeVisible()
  await ben.reload()
  await confirm(ben, 'Approve')
  await carla.reload()
  await confirm(carla, 'Apply')
  await expect.poll(percent).toBe('60')
})

test('another edit of what is in the draft starts from the draft', async ({ page, api }) => {
  const { percent, page: flagPage } = await protectedProject(api)
  await page.goto(flagPage)
  await propose(page, 60)
  await page.getByRole('button', { name: 'Edit strategy in production' }).click()
  const dialog = page.getByRole('dialog', { name: 'Strategy in production' })
  await expect(dialog.getByText('Your draft already changes this strategy. The form has what it proposes.')).toBeVisible()
  await expect(dialog.getByRole('spinbutton', { name: 'Percentage' })).toHaveValue('60')
  await dialog.getByRole('textbox', { name: 'Title' }).fill('First half')
  await dialog.getByRole('button', { name: 'Add to draft' }).click()
  await expect(dialog).toBeHidden()
  // Its menu, too.
  await page.getByRole('button', { name: 'More actions for strategy in production' }).click()
  const added = page.waitForResponse((response) => response.request().method() === 'POST' && response.url().endsWith('/change-requests'))
  await page.getByRole('menuitem', { name: 'Disable' }).click()
  expect((await added).ok()).toBe(true)
  await page.getByRole('link', { name: 'Review and send' }).click()
  await isOpenRequest(page)
  await expect(page.getByRole('article', { name: /^Change strategy: 60% of users, titled “First half”\. It is disabled\./ })).toBeVisible()
  // Who changes directly starts from what is stored.
  await page.goto(flagPage)
  await page.getByRole('button', { name: 'Change production directly' }).click()
  await page.getByRole('button', { name: 'Edit strategy in production' }).click()
  await expect(dialog.getByRole('spinbutton', { name: 'Percentage' })).toHaveValue('10')
  expect(await percent()).toBe('10')
})

test('an owner alone cannot change production', async ({ signedIn, api }) => {
  const { project, flag, percent, page: flagPage } = await protectedProject(api)
  const anna = await person(signedIn, api, unique('anna'), project, [owner])
  await anna.goto(flagPage)
  await expect(anna.getByRole('button', { name: 'Change production directly' })).toHaveCount(0)
  await propose(anna, 100)
  await send(anna, 'All at once')
  await expect(anna.getByRole('button', { name: 'Approve' })).toHaveAccessibleDescription('Someone else has to approve what you propose.')
  // In the list of flags the switch of production is added to a draft, too.
  await anna.goto(`/projects/${project}`)
  await expect(anna.getByTitle('Changes need a change request').first()).toBeVisible()
  await draftOff(anna, flag)
  await expect(anna.getByText(/Your draft has 1 change for production/)).toBeVisible()
  await expect(anna.getByRole('switch', { name: `${flag} in production` })).toBeChecked()
  await checkPage(anna, 'request-list-draft')
  await anna.getByRole('checkbox', { name: `Select ${flag}` }).check()
  await anna.getByRole('button', { name: 'Archive' }).click()
  await anna.getByRole('dialog').getByRole('button', { name: 'Add to draft' }).click()
  await expect(anna.getByText(/Your draft has 2 changes for production/)).toBeVisible()
  await anna.getByRole('link', { name: 'Review and send' }).click()
  await anna.getByRole('button', { name: 'Discard draft' }).click()
  await anna.getByRole('dialog').getByRole('button', { name: 'Discard draft' }).click()
  await expect(anna.getByRole('link', { name: 'Review and send' })).toHaveCount(0)
  expect(await percent()).toBe('10')
})

test('a segment that is used in production changes by a change request', async ({ signedIn, api }) => {
  const { project, strategy, flag, path } = await protectedProject(api)
  const name = unique('beta')
  const { id } = await api<{ id: number }>('POST', '/api/admin/segments', {
    name,
    project,
    constraints: [{ contextName: 'userId', operator: 'IN', values: ['1'] }],
  })
  await api('PUT', `${path}/strategies/${strategy}`, {
    name: 'flexibleRollout',
    parameters: { rollout: 10, stickiness: 'default', groupId: flag },
    segments: [id],
  })
  const development = path.replace(/production$/, 'development')
  await api('POST', `${development}/strategies`, { name: 'default', segments: [id] })
  await api('POST', `${development}/on`)
  const anna = await person(signedIn, api, unique('anna'), project, [owner])
  await anna.goto(`/segments/${id}?edit=true`)
  await expect(anna.getByText(`Changes for production of project ${project} need 1 approval`)).toBeVisible()
  // What applications do not see is saved at once.
  await anna.getByRole('textbox', { name: 'Description' }).fill('Who tests')
  await anna.getByRole('button', { name: 'Save segment' }).click()
  await expect(anna.getByText('Segment saved')).toBeVisible()
  await expect(anna.getByRole('button', { name: 'Save segment' })).toHaveAccessibleDescription('Nothing has changed.')
  await pick(anna.getByRole('combobox', { name: 'Operator' }).first(), 'is not one of')
  await checkPage(anna, 'request-segment')
  await anna.getByRole('button', { name: 'Add to draft' }).click()
  await expect(anna.getByText('Added to your draft for production. Nothing has changed there yet.')).toBeVisible()
  // The form is as it was before, and says that the draft has another state.
  await expect(anna.getByText(/^Your draft already changes this segment/)).toBeVisible()
  await expect(anna.getByRole('button', { name: 'Save segment' })).toHaveAccessibleDescription('Nothing has changed.')
  await expect(anna.getByRole('button', { name: 'Discard changes' })).toHaveCount(0)
  await anna.goto(`/projects/${project}`)
  await anna.getByRole('link', { name: 'Review and send' }).click()
  await expect(anna.getByRole('heading', { name: `Segment ${name}`, exact: true })).toBeVisible()
  await expect(anna.getByRole('article', { name: 'Change the segment' })).toContainText('operator “is one of” → “is not one of”')

  // The reviewer sees every flag that follows, also where no change request is needed.
  await expect(anna.getByText(/1 change in production.* and wherever its segments are used/)).toBeVisible()
  await expect(anna.getByRole('list', { name: 'Flags that are on and use the segment' }).getByRole('listitem')).toHaveText([
    `${flag} in production Prod (project ${project})`,
    `${flag} in development (project ${project})`,
  ])
})

test('titles and names do not hide what is approved', async ({ signedIn, api }) => {
  const { project } = await protectedProject(api)
  const bare = unique('bare')
  const name = unique('only staff')
  const segment = await api<{ id: number }>('POST', '/api/admin/segments', { name, project, constraints: [] })
  const title = '1% of users, only staff'
  await api('POST', `/api/admin/projects/${project}/environments/production/default-strategy`, { name: 'default', title, segments: [segment.id] })
  await api('POST', `/api/admin/projects/${project}/features`, { name: bare })
  const anna = await person(signedIn, api, unique('anna'), project, [owner])
  const ben = await person(signedIn, api, unique('ben'), project, [await roleWith(api, ['APPROVE_CHANGE_REQUEST'])])
  await anna.goto(`/projects/${project}/flags/${bare}`)
  await anna.getByRole('switch', { name: `${bare} in production` }).click()
  await expect(anna.getByRole('region', { name: 'production' })).toContainText('In draft Switch on')
  await send(anna, 'Only staff')
  await ben.goto(anna.url())
  const added = ben.getByRole('article', { name: 'Applying also does this' })
  await expect(added).toContainText(`Add strategy: Everyone in segment “${name}”, titled “${title}”.`)
  await expect(added).toContainText('"name": "default"')
  await expect(added).toContainText(`Segment “${name}” (${segment.id}): everyone, because it has no constraints.`)
  await checkPage(ben, 'request-default')
})

test('an owner freezes production from the tab Environments, and lifts the freeze', async ({ signedIn, api }) => {
  const { project, page: flagPage } = await protectedProject(api)
  // A freeze of all projects, on another day of the week.
  const day = ['Wed', 'Thu', 'Fri', 'Sat', 'Sun', 'Mon', 'Tue'][new Date().getUTCDay()]
  const { id } = await api<{ id: string }>('POST', '/api/admin/freezes/production', {
    reason: 'Nights',
    weekly: { from: `${day} 02:00`, to: `${day} 03:00`, zone: 'UTC' },
  })
  const anna = await person(signedIn, api, unique('anna'), project, [owner])
  await anna.goto(`/projects/${project}/environments`)
  const freezes = anna.getByRole('list', { name: 'Freezes of production' })
  await expect(freezes).toContainText(
    `Nights each week from ${day} 02:00 to ${day} 03:00 (UTC). Flags can only be switched off, unless others depend on them. It applies to all projects.`,
  )
  await expect(freezes.getByRole('button')).toHaveCount(0)
  await anna.getByRole('button', { name: 'Freeze production' }).click()
  const dialog = anna.getByRole('dialog', { name: 'Freeze production' })
  await dialog.getByRole('textbox', { name: 'Reason' }).fill('Holidays')
  await dialog.getByRole('button', { name: 'Freeze' }).click()
  await expect(dialog.getByText('Choose when it ends.')).toBeVisible()
  await dialog.getByLabel(/^To/).fill(new Date(Date.now() - 86_400_000).toISOString().slice(0, 16))
  await dialog.getByRole('button', { name: 'Freeze' }).click()
  await expect(dialog.getByText('Must be after from.')).toBeVisible()
  await dialog.getByLabel(/^To/).fill(new Date(Date.now() + 14 * 86_400_000).toISOString().slice(0, 16))
  await checkPage(anna, 'freeze-dialog')
  await dialog.getByRole('checkbox', { name: 'Flags can be switched off' }).uncheck()
  await dialog.getByRole('button', { name: 'Freeze' }).click()
  await expect(dialog).toBeHidden()
  await expect(freezes).toContainText(/Holidays from .* to .*\. Flags cannot change\./)
  await expect(anna.getByText(/production is frozen until .*: Holidays/)).toBeVisible()
  await checkPage(anna, 'freezes')

  // Whoever may not change the project sees it, and cannot lift it.
  const ben = await person(signedIn, api, unique('ben'), project, [member])
  await ben.goto(`/projects/${project}/environments`)
  await expect(ben.getByRole('button', { name: 'Lift the freeze: Holidays' })).toHaveAccessibleDescription(/UPDATE_PROJECT|permission/)
  await anna.getByRole('button', { name: 'Lift the freeze: Holidays' }).click()
  await anna.getByRole('dialog').getByRole('button', { name: 'Lift freeze' }).click()
  await expect(anna.getByText(/production is frozen until/)).toHaveCount(0)
  await expect(freezes.getByRole('listitem')).toHaveCount(1)
  await anna.goto(flagPage)
  await propose(anna, 60)
  await expect(anna.getByText(/production is frozen until/)).toHaveCount(0)
  await api('DELETE', `/api/admin/freezes/production/${id}`)
})

test('an administrator freezes an environment in all projects each week, and an owner in one project', async ({ page, signedIn, api }) => {
  const check = noConsoleErrors(page, /400/)
  const live = unique('live')
  await api('POST', '/api/admin/environments', { name: live, type: 'production' })
  const { project } = await protectedProject(api)
  await page.goto('/environments')
  await page.getByRole('button', { name: `Actions for ${live}` }).click()
  await page.getByRole('menuitem', { name: 'Freezes in all projects' }).click()
  const all = page.getByRole('dialog', { name: `Freezes of ${live} in all projects`, exact: true })
  await expect(all).toContainText('Freezes: none.')
  await all.getByRole('button', { name: `Freeze ${live}` }).click()
  const dialog = page.getByRole('dialog', { name: `Freeze ${live} in all projects`, exact: true })
  await dialog.getByRole('textbox', { name: 'Reason' }).fill('Weekends')
  await dialog.getByRole('radio', { name: 'Each week' }).check()
  await dialog.getByRole('combobox', { name: 'Time zone' }).fill('Nowhere')
  await dialog.getByRole('button', { name: 'Freeze', exact: true }).click()
  await expect(dialog.getByRole('combobox', { name: 'Time zone' })).toHaveAccessibleDescription(/zone/)
  await dialog.getByRole('combobox', { name: 'Time zone' }).fill('zurich')
  await page.getByRole('option', { name: 'Europe/Zurich' }).click()
  await checkPage(page, 'freeze-weekly')
  await dialog.getByRole('button', { name: 'Freeze', exact: true }).click()
  await expect(dialog).toBeHidden()
  const freezes = page.getByRole('list', { name: `Freezes of ${live}` })
  await expect(freezes).toHaveText(
    /^Weekends each week from Fri 17:00 to Mon 08:00 \(Europe\/Zurich\)\. Flags can only be switched off, unless others depend on them\. It applies to all projects\./,
  )

  // The owner of a project sees it, cannot lift it, and sets another one.
  const anna = await person(signedIn, api, unique('anna'), project, [owner])
  await anna.goto(`/projects/${project}/environments`)
  const shown = anna.getByRole('list', { name: `Freezes of ${live}` })
  await expect(shown).toContainText('Weekends each week from Fri 17:00')
  await expect(shown.getByRole('button')).toHaveCount(0)
  await anna.getByRole('button', { name: `Freeze ${live}` }).click()
  const own = anna.getByRole('dialog', { name: `Freeze ${live}` })
  await own.getByRole('textbox', { name: 'Reason' }).fill('Stocktaking')
  await own.getByRole('radio', { name: 'Each week' }).check()
  await pick(own.getByRole('combobox', { name: 'From this day' }), 'Wed')
  await own.getByLabel(/^From time/).fill('06:00')
  await pick(own.getByRole('combobox', { name: 'To this day' }), 'Wed')
  await own.getByLabel(/^To time/).fill('07:30')
  await own.getByRole('button', { name: 'Freeze', exact: true }).click()
  await expect(shown).toContainText('Stocktaking each week from Wed 06:00 to Wed 07:30 (UTC).')

  // The freeze of the project is not among those of all projects, which the administrator lifts.
  await page.reload()
  await expect(freezes.getByRole('listitem')).toHaveCount(1)
  await all.getByRole('button', { name: 'Lift the freeze: Weekends' }).click()
  await page
    .getByRole('dialog', { name: /^Lift the freeze/ })
    .getByRole('button', { name: 'Lift freeze' })
    .click()
  await expect(all).toContainText('Freezes: none.')
  await anna.reload()
  await expect(shown.getByRole('listitem')).toHaveCount(1)
  check()
})

test('a freeze is shown with its reason and end, and an approved request waits', async ({ page, signedIn, api }) => {
  const { project, percent, page: flagPage } = await protectedProject(api)
  const anna = await person(signedIn, api, unique('anna'), project, [member, await roleWith(api, ['APPLY_CHANGE_REQUEST'])])
  const ben = await person(signedIn, api, unique('ben'), project, [await roleWith(api, ['APPROVE_CHANGE_REQUEST'])])
  const to = new Date(Date.now() + 14 * 86_400_000).toISOString()
  await api('POST', `/api/admin/projects/${project}/environments/production/freezes`, { reason: 'Holidays', to })
  await anna.goto(flagPage)
  await expect(anna.getByText(/production is frozen until .*: Holidays/)).toBeVisible()
  await checkPage(anna, 'request-freeze')
  await propose(anna, 60)
  await send(anna, 'After the holidays')
  const requestPage = anna.url()
  await ben.goto(requestPage)
  await confirm(ben, 'Approve')
  await expect(ben.getByRole('button', { name: 'Apply' })).toHaveAccessibleDescription(/“Apply change requests” .*\. Ask an administrator\.$/)
  await anna.goto(flagPage)
  await expect(anna.getByText('“After the holidays” approved')).toBeVisible()
  await anna.goto(requestPage)
  await expect(anna.getByRole('status').filter({ hasText: /production is frozen until .*: Holidays Approved change requests wait\./ })).toBeVisible()
  await expect(anna.getByText(/^It is approved\. production is frozen until .*: it can be applied after that\./)).toBeVisible()
  await expect(anna.getByRole('button', { name: 'Apply' })).toHaveAccessibleDescription(/^production is frozen until .*: it can be applied after that\.$/)
  await checkPage(anna, 'request-frozen')
  await anna.getByRole('button', { name: 'Schedule' }).click()
  const dialog = anna.getByRole('dialog', { name: 'When should it be applied?' })
  await dialog.getByLabel('Time (UTC)').fill(new Date(Date.now() + 86_400_000).toISOString().slice(0, 16))
  await dialog.getByRole('button', { name: 'Schedule' }).click()
  await expect(anna.getByText(/^It is scheduled for .*\. production is frozen until .*: it is applied after that/)).toBeVisible()
  await expect(anna.getByRole('button', { name: 'Apply now' })).toHaveAccessibleDescription(/^production is frozen until/)
  expect(await percent()).toBe('10')

  // An administrator can skip the freeze. The request keeps what it has replaced.
  await page.goto(requestPage)
  await page.getByRole('button', { name: 'Apply now' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Apply', exact: true }).click()
  await expect(page.getByText(/^Applied /).first()).toBeVisible()
  expect(await percent()).toBe('60')
  await expect(page.getByText('production is frozen until')).toHaveCount(0)
  await expect(page.getByRole('article', { name: /^Change strategy/ })).toContainText('10% of users → 60% of users')
  await checkPage(page, 'request-applied-frozen')
})

test('an approved request is scheduled, gets another time, and is applied before it', async ({ signedIn, api }) => {
  const { project, percent, page: flagPage } = await protectedProject(api)
  const anna = await person(signedIn, api, unique('anna'), project, [member, await roleWith(api, ['APPLY_CHANGE_REQUEST'])])
  const ben = await person(signedIn, api, unique('ben'), project, [await roleWith(api, ['APPROVE_CHANGE_REQUEST'])])
  await anna.goto(flagPage)
  await propose(anna, 60)
  await send(anna, 'Tomorrow')
  await ben.goto(anna.url())
  await confirm(ben, 'Approve')
  await anna.reload()
  const schedule = async (button: string, days: number) => {
    await anna.getByRole('button', { name: button, exact: true }).click()
    const dialog = anna.getByRole('dialog', { name: 'When should it be applied?' })
    await dialog.getByRole('button', { name: 'Schedule' }).click()
    await expect(dialog.getByText('Choose a time in the future.')).toBeVisible()
    await dialog.getByLabel('Time (UTC)').fill(new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 16))
    await dialog.getByRole('button', { name: 'Schedule' }).click()
    await expect(dialog).toBeHidden()
  }
  await schedule('Schedule', 1)
  await expect(anna.getByText(/^It will be applied .*, with the permissions of anna/)).toBeVisible()
  await checkPage(anna, 'request-scheduled')
  await schedule('Change the time', 2)
  await expect(anna.getByRole('button', { name: /^Edit this change/ })).toHaveCount(0)
  expect(await percent()).toBe('10')
  await anna.getByRole('button', { name: 'Apply now' }).click()
  await anna.getByRole('dialog').getByRole('button', { name: 'Apply', exact: true }).click()
  await expect(anna.getByText(/^Applied /).first()).toBeVisible()
  expect(await percent()).toBe('60')
})

test('an administrator adds to a draft as well, and changes directly only after choosing so', async ({ page, api }) => {
  const { flag, page: flagPage } = await protectedProject(api)
  await page.goto(flagPage)
  await expect(page.getByRole('region', { name: 'production' })).toContainText('Changes need 1 approval')
  const toggle = page.getByRole('switch', { name: `${flag} in production` })
  await draftOff(page, flag)
  await expect(page.getByRole('region', { name: 'production' })).toContainText('In draft Switch off')
  await expect(toggle).toBeChecked()
  // A second click takes it out of the draft, a third adds it again.
  await toggle.click()
  await expect(page.getByRole('region', { name: 'production' })).not.toContainText('In draft')
  await draftOff(page, flag)
  await expect(page.getByRole('region', { name: 'production' })).toContainText('In draft Switch off')
  await page.getByRole('button', { name: 'Change production directly' }).click()
  await expect(page.getByRole('region', { name: 'production' })).toContainText('Changes apply at once, without a change request.')
  await checkPage(page, 'request-direct')
  await toggle.click()
  await page.getByRole('dialog').getByRole('button', { name: 'Switch off' }).click()
  await expect(toggle).not.toBeChecked()
  await page.getByRole('button', { name: 'Stop changing production directly' }).click()
  await expect(page.getByRole('button', { name: 'Change production directly' })).toBeVisible()
  // The history says so.
  await expect(page.getByText(`${flag} is off in production`, { exact: true })).toBeVisible()
  await page.goto(`${flagPage}/history`)
  await expect(page.getByRole('article', { name: 'Switched off' })).toContainText('without a change request in production')
})

test('where nobody skips change requests, an administrator changes in an emergency, with a reason that the log has', async ({ page, signedIn, api }) => {
  const live = unique('live')
  await api('POST', '/api/admin/environments', { name: live, type: 'production', nobodySkips: true })
  const { project, flag, page: flagPage } = await protectedProject(api)
  await api('POST', `/api/admin/projects/${project}/features/${flag}/environments/${live}/strategies`, { name: 'default' })
  await api('PUT', `/api/admin/projects/${project}/environments/${live}/change-requests/config`, { changeRequestsEnabled: true, requiredApprovals: 1 })
  await page.goto(flagPage)
  const toggle = page.getByRole('switch', { name: `${flag} in ${live}` })
  await expect(page.getByRole('button', { name: `Change ${live} directly` })).toHaveCount(0)
  await page.getByRole('button', { name: `Change ${live} in an emergency` }).click()
  const dialog = page.getByRole('dialog', { name: `Change ${live} in an emergency?` })
  await dialog.getByRole('button', { name: 'Change without a review' }).click()
  await expect(dialog.getByText('Say why this cannot wait for a review.')).toBeVisible()
  const reason = 'Zahlungen fallen aus – naïve 支払'
  await dialog.getByRole('textbox', { name: 'Reason' }).fill(reason)
  await checkPage(page, 'request-emergency')
  await dialog.getByRole('button', { name: 'Change without a review' }).click()
  await expect(page.getByRole('region', { name: live })).toContainText(`apply at once, without a change request. The log has the reason: ${reason}`)
  await toggle.click()
  await page.getByRole('dialog').getByRole('button', { name: 'Switch on' }).click()
  await expect(toggle).toBeChecked() // which is shown before the server has answered
  const broken = async () =>
    (await api('GET', `/api/admin/events/${flag}?limit=10`)).events.filter(({ type }: { type: string }) => type === 'change-request-glass-broken')
  await expect.poll(broken).toHaveLength(1)
  expect(JSON.stringify(await broken())).toContain(reason)
  await page.getByRole('button', { name: `Stop changing ${live} directly` }).click()
  await draftOff(page, flag, live)
  await expect(page.getByRole('region', { name: live })).toContainText('In draft Switch off')
  await expect(toggle).toBeChecked()

  // Others are told who can.
  const anna = await person(signedIn, api, unique('anna'), project, [owner])
  await anna.goto(flagPage)
  await expect(anna.getByRole('button', { name: `Change ${live} in an emergency` })).toHaveAccessibleDescription(/an administrator can/)
})

test('protection is set per environment of a project, and rules per environment of the service', async ({ page, api }) => {
  const check = noConsoleErrors(page)
  const project = unique('bakery')
  await api('POST', '/api/admin/projects', { id: project, name: project })
  await page.goto(`/projects/${project}/change-requests`)
  await expect(page.getByRole('heading', { name: 'Change requests are off' })).toBeVisible()
  await checkPage(page, 'requests-off')
  await page.getByRole('link', { name: 'Choose the environments' }).click()
  await page.getByRole('button', { name: 'Set change requests in production' }).click()
  const dialog = page.getByRole('dialog', { name: 'Change requests in production' })
  await dialog.getByRole('checkbox', { name: 'Change requests are needed' }).check()
  await dialog.getByRole('spinbutton', { name: 'Approvals' }).fill('2')
  await checkPage(page, 'protection')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await expect(page.getByText('on. A change needs 2 approvals before applications see it.')).toBeVisible()

  const name = unique('live')
  await page.goto('/environments')
  await page.getByRole('button', { name: 'Create environment' }).click()
  const creating = page.getByRole('dialog', { name: 'Create environment' })
  await creating.getByRole('textbox', { name: 'Name' }).fill(name)
  await creating.getByRole('checkbox', { name: 'No project can switch them off' }).check()
  await creating.getByRole('spinbutton', { name: 'Approvals at least' }).fill('2')
  await creating.getByRole('checkbox', { name: 'Switching off needs no change request' }).check()
  await creating.getByRole('button', { name: 'Create environment' }).click()
  await expect(creating).toBeHidden()
  const { environments } = await api<{ environments: { name: string }[] }>('GET', '/api/admin/environments')
  expect(environments.find((one) => one.name === name)).toMatchObject({ requiredApprovals: 2, offAllowed: true })
  await api('POST', `/api/admin/environments/${name}/off`) // the projects of other tests would get it, and need change requests
  check()
})

test('the page of a request says for whom a switch turns the flag on', async ({ page, api }) => {
  const { project, flag, strategy, path } = await protectedProject(api)
  await api('POST', `${path}/off`)
  await api('POST', `${path}/strategies`, { name: 'default', title: 'Staff' })
  await api('POST', `/api/admin/projects/${project}/environments/production/change-requests`, [
    { feature: flag, action: 'updateEnabled', payload: { enabled: true } },
    { feature: flag, action: 'updateStrategy', payload: { id: strategy, name: 'flexibleRollout', parameters: { rollout: '40', stickiness: 'default' } } },
  ])
  const [request] = await api<{ id: number }[]>('GET', `/api/admin/projects/${project}/change-requests/pending`)
  const at = `/projects/${project}/change-requests/${request!.id}`
  await api('PUT', `/api/admin${at}/state`, { state: 'In review' })
  await page.goto(at)
  const sentences = page.getByRole('article', { name: 'Switch on' }).getByRole('list', { name: 'Whom it concerns' }).getByRole('listitem')
  await expect(sentences).toHaveText(['40% of users.', 'Everyone, titled “Staff”.'])
})
