// Changes that applications in production follow at once: each asks, says what it did, and is undone.
import type { Page } from '@playwright/test'
import { type Api, expect, hide, noConsoleErrors, pick, test, undo, unique } from './fixtures'

interface Strategy {
  id: string
  disabled: boolean
  parameters: Record<string, string>
}

/** A flag that is on in production for 10% of users, with its page open. */
async function liveFlag(page: Page, api: Api, environment = 'production') {
  const flag = unique('banner')
  await api('POST', '/api/admin/projects/default/features', { name: flag })
  const path = `/api/admin/projects/default/features/${flag}/environments/${environment}`
  await api('POST', `${path}/strategies`, { name: 'flexibleRollout', parameters: { rollout: '10', stickiness: 'default', groupId: flag } })
  await api('POST', `${path}/on`)
  await page.goto(`/projects/default/flags/${flag}`)
  const stored = () => api<{ enabled: boolean; strategies: Strategy[] }>('GET', path)
  return {
    flag,
    path,
    stored,
    /** Whether the flag is on, and the percentages of its strategies that apply. */
    state: async () => {
      const { enabled, strategies } = await stored()
      return [enabled, ...strategies.filter(({ disabled }) => !disabled).map(({ parameters }) => parameters.rollout)]
    },
    choose: async (entry: string) => {
      await page.getByRole('button', { name: `More actions for strategy in ${environment}` }).click()
      await page.getByRole('menuitem', { name: entry }).click()
    },
    messages: page.getByRole('region', { name: 'Messages' }),
  }
}

for (const [entry, done] of [
  ['Disable', 'disabled in'],
  ['Remove', 'removed from'],
] as const)
  test(`${entry} of the last strategy in production asks, says that the flag goes off, and is undone with it`, async ({ page, api }) => {
    const check = noConsoleErrors(page)
    const { flag, state, choose, messages } = await liveFlag(page, api)
    const child = unique('child')
    await api('POST', '/api/admin/projects/default/features', { name: child })
    await api('POST', `/api/admin/projects/default/features/${child}/dependencies`, { feature: flag })
    await page.reload()
    await choose(entry)
    const dialog = page.getByRole('dialog', { name: `${entry} the strategy of ${flag} in production?` })
    await expect(dialog).toContainText(`These flags can change, too, because they depend on it: ${child}.`)
    await expect(dialog).toContainText('Applications follow with their next request.')
    await expect(dialog).toContainText('10% of users')
    await expect(dialog).toContainText('No other strategy applies here, so the flag is switched off, too.')
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    expect(await state()).toEqual([true, '10'])

    await choose(entry)
    await dialog.getByRole('button', { name: entry }).click()
    await expect(messages.getByText(`${flag}: strategy ${done} production, and the flag switched off`)).toBeVisible()
    expect(await state()).toEqual([false])
    await undo(page)
    expect(await state()).toEqual([true, '10'])
    await expect(page.getByRole('switch', { name: `${flag} in production` })).toBeChecked()
    check()
  })

test('nothing changes if a strategy has changed since the question about it was asked', async ({ page, api }) => {
  const { flag, path, stored, state, choose, messages } = await liveFlag(page, api)
  await choose('Disable')
  const dialog = page.getByRole('dialog', { name: `Disable the strategy of ${flag} in production?` })
  const confirm = dialog.getByRole('button', { name: 'Disable' })
  await expect(dialog).toContainText('10% of users')
  const [strategy] = (await stored()).strategies
  await api('PATCH', `${path}/strategies/${strategy!.id}`, [{ op: 'replace', path: '/parameters/rollout', value: '20' }])
  await confirm.click()
  await expect(dialog).toContainText(`Meanwhile ${flag} has changed in production. Nothing was changed`)
  expect(await state()).toEqual([true, '20'])

  await page.reload()
  await choose('Disable')
  await expect(dialog).toContainText('20% of users')
  await confirm.click()
  await expect(messages.getByText('strategy disabled in production')).toBeVisible()
  expect(await state()).toEqual([false])
})

test('a strategy that was changed since is not enabled again by Undo', async ({ page, api }) => {
  const { path, stored, state, choose, messages } = await liveFlag(page, api, 'development')
  await choose('Disable')
  await expect(messages.getByText('strategy disabled in development')).toBeVisible()
  const [strategy] = (await stored()).strategies
  await api('PATCH', `${path}/strategies/${strategy!.id}`, [{ op: 'replace', path: '/title', value: 'Changed' }])
  await messages.getByRole('button', { name: 'Undo' }).click()
  await expect(messages.getByText('The strategy changed since. Nothing was undone.')).toBeVisible()
  expect(await state()).toEqual([false])
})

test('a copy of a strategy asks where the flag is on in production', async ({ page, api }) => {
  const { flag, path, state, choose, messages } = await liveFlag(page, api)
  await choose('Duplicate')
  const dialog = page.getByRole('dialog', { name: `Add a copy of the strategy of ${flag} in production?` })
  await dialog.getByRole('button', { name: 'Duplicate' }).click()
  await expect(messages.getByText(`${flag}: strategy copied to production`)).toBeVisible()
  expect(await state()).toEqual([true, '10', '10'])
  await undo(page)
  expect(await state()).toEqual([true, '10'])

  // From another environment, too; and not where the flag is off.
  await api('POST', `${path.replace('production', 'development')}/strategies`, { name: 'default' })
  await page.reload()
  const copy = async () => {
    await page.getByRole('button', { name: 'More actions for strategy in development' }).click()
    await page.getByRole('menuitem', { name: 'Copy to production Prod' }).click()
  }
  await copy()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await api('POST', `${path}/off`)
  await page.reload()
  await copy()
  await expect(messages.getByText(`${flag}: strategy copied to production`)).toBeVisible()
  expect(await state()).toEqual([false, '10', undefined])
})

test('the form of a strategy says what changes in production, and Undo brings the strategy back', async ({ page, api }) => {
  const check = noConsoleErrors(page)
  const { flag, state, messages } = await liveFlag(page, api)
  const dialog = page.getByRole('dialog', { name: 'Strategy in production' })
  const save = dialog.getByRole('button', { name: 'Save strategy in production' })
  const edit = async (percent: string) => {
    await page.getByRole('button', { name: 'Edit strategy in production' }).click()
    await dialog.getByRole('spinbutton', { name: 'Percentage' }).fill(percent)
  }
  await edit('25')
  await expect(dialog).toContainText('10% of users → 25% of users')
  await expect(dialog).toContainText('More users get it.')
  await expect(dialog).toContainText('Applications follow with their next request.')
  await save.click()
  await expect(messages.getByText(`${flag}: strategy saved in production`)).toBeVisible()
  expect(await state()).toEqual([true, '25'])
  await undo(page)
  expect(await state()).toEqual([true, '10'])

  // Disabling it in the form switches the flag off, too.
  await edit('10')
  await dialog.getByRole('checkbox', { name: 'Disabled' }).check()
  await expect(dialog).toContainText('10% of users → Disabled')
  await expect(dialog).not.toContainText('More users get it.')
  await expect(dialog).toContainText('No other strategy applies here, so the flag is switched off, too.')
  await save.click()
  await expect(messages.getByText(`${flag}: strategy saved in production, and the flag switched off`)).toBeVisible()
  expect(await state()).toEqual([false])
  await messages.getByRole('button', { name: 'Undo' }).click()
  await expect.poll(state).toEqual([true, '10'])

  // Another strategy.
  await page.getByRole('button', { name: 'Add strategy in production' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Add strategy in production' }).click()
  await expect(messages.getByText(`${flag}: strategy added in production`)).toBeVisible()
  expect(await state()).toEqual([true, '10', '10'])
  await messages.getByRole('button', { name: 'Undo' }).click()
  await expect.poll(state).toEqual([true, '10'])
  check()
})

test('questions in production name segments, a later value of a list, and the group of a rollout', async ({ page, api }) => {
  const values = ['u1', 'u2', 'u3', 'u4', 'u5', 'u6']
  const name = unique('staff')
  const { id } = await api('POST', '/api/admin/segments', { name, constraints: [{ contextName: 'userId', operator: 'IN', values }] })
  const { flag, path, stored, choose } = await liveFlag(page, api)
  const [strategy] = (await stored()).strategies
  await api('PUT', `${path}/strategies/${strategy!.id}`, { name: 'flexibleRollout', parameters: strategy!.parameters, segments: [id] })

  await page.reload()
  const question = page.getByRole('dialog')
  for (const entry of ['Disable', 'Duplicate', 'Remove']) {
    await choose(entry)
    await expect(question).toContainText(`The strategy: 10% of users in segment ${name}.`)
    await question.getByRole('button', { name: 'Cancel' }).click()
  }
  await page.getByRole('button', { name: 'Edit strategy in production' }).click()
  const form = page.getByRole('dialog', { name: 'Strategy in production' })
  await form.locator('summary', { hasText: 'Group ID' }).click()
  await form.getByRole('textbox', { name: 'Group ID' }).fill('another')
  await expect(form).toContainText(`Group ID ${flag} → another, so other users get it`)

  await page.goto(`/segments/${id}?edit=true`)
  await page.getByRole('button', { name: 'Remove u5' }).click()
  await page.getByRole('button', { name: 'Save segment' }).click()
  await expect(page.getByRole('dialog')).toContainText('userId is one of: − u5')
  await expect(page.getByRole('dialog')).toContainText(flag)
})

test('variants and their order in production ask, and variants are undone', async ({ page, api }) => {
  const { flag, path, stored, messages } = await liveFlag(page, api)
  await page.goto(`/projects/default/flags/${flag}/variants`)
  await page.getByRole('button', { name: 'Add variants in production' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('textbox', { name: 'Name' }).first().fill('blue')
  await dialog.getByRole('textbox', { name: 'Name' }).last().fill('green')
  await expect(dialog).toContainText('blue 50%, green 50%')
  await dialog.getByRole('button', { name: 'Save variants in production' }).click()
  await expect(messages.getByText(`${flag}: variants saved in production`)).toBeVisible()
  const names = async () => (await api<{ variants: { name: string }[] }>('GET', `${path}/variants`)).variants.map(({ name }) => name)
  expect(await names()).toEqual(['blue', 'green'])
  await messages.getByRole('button', { name: 'Undo' }).click()
  await expect.poll(names).toEqual([])

  const variants = [{ name: 'blue', weight: 1000, weightType: 'variable', stickiness: 'default' }]
  await api('POST', `${path}/strategies`, { name: 'flexibleRollout', parameters: { rollout: '20', stickiness: 'default' }, variants })
  await page.goto(`/projects/default/flags/${flag}`)
  const order = async () => (await stored()).strategies.map(({ parameters }) => parameters.rollout)
  await page.getByRole('button', { name: 'Move strategy 2 in production up' }).click()
  const question = page.getByRole('dialog', { name: `Change the order of the strategies of ${flag} in production?` })
  expect(await order()).toEqual(['10', '20'])
  await question.getByRole('button', { name: 'Change the order' }).click()
  await expect(messages.getByText(`${flag}: order of the strategies changed in production`)).toBeVisible()
  expect(await order()).toEqual(['20', '10'])
  await undo(page)
  expect(await order()).toEqual(['10', '20'])
})

test('the history and the log mark environments of type production', async ({ page, api }) => {
  const environment = unique('live')
  await api('POST', '/api/admin/environments', { name: environment, type: 'production' })
  await api('POST', '/api/admin/projects/default/environments', { environment })
  const { flag, path } = await liveFlag(page, api, environment)
  await api('POST', `/api/admin/projects/default/features/${flag}/environments/development/strategies`, { name: 'default' })
  await api('POST', `${path}/off`)
  for (const [url, list] of [
    [`/projects/default/flags/${flag}/history`, 'History'],
    [`/audit?flag=${flag}`, 'Events'],
  ] as const) {
    await page.goto(url)
    const events = page.getByRole('main').getByRole('article')
    await expect(events.filter({ hasText: environment }).getByTitle('An environment of type production'), list).toHaveCount(3)
    await expect(events.filter({ hasText: 'development' }).getByTitle('An environment of type production')).toHaveCount(0)
    // What was added is in words.
    await expect(events.filter({ hasText: 'Strategy added' }).filter({ hasText: environment })).toContainText('10% of users')
    await expect(page.getByRole('main')).not.toContainText('{"')
  }
  await api('DELETE', `/api/admin/projects/default/environments/${environment}`)
})

test('the question before a switch shows what is stored, not what the page has read before', async ({ page, api }) => {
  const { flag, path, stored } = await liveFlag(page, api)
  const parent = unique('parent')
  await api('POST', '/api/admin/projects/default/features', { name: parent })
  const [strategy] = (await stored()).strategies
  await expect(page.getByRole('region', { name: 'production' })).toContainText('10% of users')
  await hide(page)
  const parameters = { rollout: '70', stickiness: 'default', groupId: flag }
  await api('PATCH', `${path}/strategies/${strategy!.id}`, [{ op: 'replace', path: '/parameters', value: parameters }])
  await api('POST', `/api/admin/projects/default/features/${flag}/dependencies`, { feature: parent, enabled: false })
  await page.getByRole('switch', { name: `${flag} in production` }).click()
  const dialog = page.getByRole('dialog', { name: `Switch ${flag} off in production?` })
  await expect(dialog).toContainText('70% of users.')
  await expect(dialog).toContainText(`Only where ${parent} is off, because the flag depends on it.`)

  // The question about the parent names the flags that depend on it.
  const parentPath = path.replace(flag, parent)
  await api('POST', `${parentPath}/strategies`, { name: 'default' })
  await page.goto(`/projects/default/flags/${parent}`)
  await page.getByRole('switch', { name: `${parent} in production` }).click()
  await expect(page.getByRole('dialog', { name: `Switch ${parent} on in production?` })).toContainText(
    `These flags can change, too, because they depend on it: ${flag}.`,
  )
})

test('a first strategy in production says that applications follow at once', async ({ page, api }) => {
  const flag = unique('banner')
  const project = unique('shop')
  await api('POST', '/api/admin/projects', { id: project, name: project })
  await api('POST', `/api/admin/projects/${project}/features`, { name: flag })
  await api('POST', `/api/admin/projects/${project}/features`, { name: `${flag}-parent` })
  await api('POST', `/api/admin/projects/${project}/features/${flag}/dependencies`, { feature: `${flag}-parent` })
  const parents = `Only where ${flag}-parent is on, because the flag depends on it.`
  for (const path of [`/projects/${project}`, `/projects/${project}/flags/${flag}`]) {
    await page.goto(path)
    await page.getByRole('switch', { name: `${flag} in production` }).click()
    const dialog = page.getByRole('dialog', { name: `Who gets ${flag} in production?` })
    await expect(dialog).toContainText('Applications follow with their next request.')
    await expect(dialog).toContainText(parents)
  }
  await page.getByRole('button', { name: 'Constraints, segments…' }).click()
  const form = page.getByRole('dialog', { name: 'Add strategy in production' })
  await expect(form).toContainText('10% of users')
  await expect(form).toContainText(parents)
})

test('a first strategy is not added where another person has added one, and Undo switches the flag off', async ({ page, api }) => {
  const messages = page.getByRole('region', { name: 'Messages' })
  const project = unique('shop')
  await api('POST', '/api/admin/projects', { id: project, name: project })
  for (const view of [`/projects/${project}`, `/projects/${project}/flags/`]) {
    const flag = unique('banner')
    await api('POST', `/api/admin/projects/${project}/features`, { name: flag })
    const path = `/api/admin/projects/${project}/features/${flag}/environments/production`
    const add = () => api('POST', `${path}/strategies`, { name: 'default' })
    const state = async () => {
      const { enabled, strategies } = await api('GET', path)
      return [enabled, strategies.length]
    }
    const start = async () => {
      await page.goto(view.endsWith('/') ? view + flag : view)
      await page.getByRole('switch', { name: `${flag} in production` }).click()
    }
    const dialog = page.getByRole('dialog', { name: `Who gets ${flag} in production?` })
    await start()
    const { id } = await add()
    await dialog.getByRole('button', { name: 'Switch on', exact: true }).click()
    await expect(dialog).toContainText(`Meanwhile ${flag} got 1 strategy in production.`)
    expect(await state()).toEqual([false, 1])
    await api('DELETE', `${path}/strategies/${id}`)

    if (view.endsWith('/')) {
      await start()
      await dialog.getByRole('button', { name: 'Constraints, segments…' }).click()
      const form = page.getByRole('dialog', { name: 'Add strategy in production' })
      await expect(form.getByRole('spinbutton', { name: 'Percentage' })).toBeVisible()
      const { id } = await add()
      await form.getByRole('button', { name: 'Add strategy and switch on in production' }).click()
      await expect(form).toContainText(`Meanwhile ${flag} got 1 strategy in production.`)
      expect(await state()).toEqual([false, 1])
      await api('DELETE', `${path}/strategies/${id}`)
    }
    const first = async () => {
      await start()
      await dialog.getByRole('button', { name: 'Switch on', exact: true }).click()
      await expect(messages.getByText(`${flag} is on in production for`)).toBeVisible()
      expect(await state()).toEqual([true, 1])
    }
    await first()
    const [{ id: own }] = await api('GET', `${path}/strategies`)
    await api('PUT', `${path}/strategies/${own}`, { name: 'default' })
    await messages.getByRole('button', { name: 'Undo' }).click()
    await expect(messages.getByText(`Not undone. Meanwhile the strategies of ${flag} in production have changed. Nothing was undone.`)).toBeVisible()
    expect(await state()).toEqual([true, 1])
    await api('POST', `${path}/off`)
    await api('DELETE', `${path}/strategies/${own}`)

    await first()
    await add()
    await undo(page)
    expect(await state()).toEqual([false, 1])
  }
})

test('the form of a parent names all production environments where the flag is on, and so does the question before removing it', async ({ page, api }) => {
  const live = unique('live')
  await api('POST', '/api/admin/environments', { name: live, type: 'production' })
  await api('POST', '/api/admin/projects/default/environments', { environment: live })
  const { flag, path } = await liveFlag(page, api)
  const other = path.replace(/production$/, live)
  await api('POST', `${other}/strategies`, { name: 'default' })
  await api('POST', `${other}/on`)
  const parent = unique('parent')
  await api('POST', '/api/admin/projects/default/features', { name: parent })
  await page.reload()
  await page.getByRole('button', { name: 'Add parent' }).click()
  const dialog = page.getByRole('dialog', { name: 'Add a parent' })
  await dialog.getByRole('radio', { name: 'Off' }).check()
  const both = `(production and ${live}|${live} and production)`
  const asks = `${live} is a production environment\\. Applications follow with their next request\\.`
  await expect(dialog).toContainText(new RegExp(`${flag} is on in ${both}, and then only where its parent is off`))
  await expect(dialog).toContainText(new RegExp(asks))
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await api('POST', `/api/admin/projects/default/features/${flag}/dependencies`, { feature: parent })
  await page.reload()
  await page.getByRole('button', { name: `Remove dependency on ${parent}` }).click()
  await expect(page.getByRole('dialog', { name: `Remove the dependency of ${flag} on ${parent}?` })).toContainText(
    new RegExp(`${asks}.*${flag} will be on there for all whom its strategies select, whether ${parent} is on or off\\.`),
  )
  await api('DELETE', `/api/admin/projects/default/environments/${live}`)
  // Projects of other tests would get it.
  await api('POST', `/api/admin/environments/${live}/off`)
})

test('a switch names the freeze instead of asking; who may skip the freeze reads of it in the question', async ({ page, signedIn, api }) => {
  const { flag, choose } = await liveFlag(page, api)
  const project = unique('shop')
  await api('POST', '/api/admin/projects', { id: project, name: project })
  await api('POST', `/api/admin/projects/default/features/${flag}/changeProject`, { newProjectId: project })
  const until = new Date(Date.now() + 86_400_000).toISOString()
  const freezes = `/api/admin/projects/${project}/environments/production/freezes`
  await api('POST', freezes, { reason: 'Holidays', to: until, offAllowed: false })
  await page.goto(`/projects/${project}`)
  await page.getByRole('switch', { name: `${flag} in production` }).click()
  const dialog = page.getByRole('dialog', { name: `Switch ${flag} off in production?` })
  const skipped = /production is frozen until [^TZ]*: Holidays\. You skip the freeze, and the log says so\./
  await expect(dialog).toContainText(skipped)

  // The other questions and the forms say so, too.
  const name = unique('staff')
  const constraints = [{ contextName: 'userId', operator: 'IN', values: ['1', '2'] }]
  const segment = await api('POST', '/api/admin/segments', { name, constraints })
  const path = `/api/admin/projects/${project}/features/${flag}/environments/production`
  const [strategy] = (await api<{ strategies: Strategy[] }>('GET', path)).strategies
  await api('PUT', `${path}/strategies/${strategy!.id}`, { name: 'flexibleRollout', parameters: strategy!.parameters, segments: [segment.id] })
  const question = page.getByRole('dialog')
  await page.goto(`/projects/${project}/flags/${flag}`)
  await choose('Disable')
  await expect(question).toContainText(skipped)
  await question.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'Actions', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Archive…' }).click()
  await expect(question).toContainText(skipped)
  await question.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'Actions', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Move to another project…' }).click()
  await expect(question).toContainText('The flag is on in production.')
  await expect(question).toContainText(new RegExp(`Project ${project}: ${skipped.source}`))
  await question.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'Edit strategy in production' }).click()
  await question.getByRole('spinbutton', { name: 'Percentage' }).fill('20')
  await expect(question).toContainText(skipped)
  const parent = unique('parent')
  await api('POST', `/api/admin/projects/${project}/features`, { name: parent })
  await api('POST', `/api/admin/projects/${project}/features/${flag}/dependencies`, { feature: parent, enabled: false })
  await page.goto(`/projects/${project}/flags/${flag}`)
  await page.getByRole('button', { name: `Remove dependency on ${parent}` }).click()
  await expect(question).toContainText(skipped)
  await page.goto(`/segments/${segment.id}?edit=true`)
  await page.getByRole('button', { name: 'Remove 2' }).click()
  await page.getByRole('button', { name: 'Save segment' }).click()
  await expect(question).toContainText(new RegExp(`Project ${project}: ${skipped.source}`))
  await page.goto(`/import?project=${project}&environment=production`)
  await page.getByRole('textbox', { name: 'Or paste the JSON' }).fill(JSON.stringify({ features: [{ name: unique('new') }] }))
  await page.getByRole('button', { name: 'Check' }).click()
  await page.getByRole('button', { name: /^Import/ }).click()
  await expect(question).toContainText(skipped)
  await page.goto(`/projects/${project}/environments`)
  await page.getByRole('button', { name: 'Actions for production' }).click()
  await page.getByRole('menuitem', { name: 'Remove from the project' }).click()
  await expect(question).toContainText(skipped)

  // Reviving where the flag was on, and moving it into the project.
  const revived = unique('revived')
  const features = `/api/admin/projects/${project}/features`
  await api('POST', features, { name: revived })
  await api('POST', `${features}/${revived}/environments/production/strategies`, { name: 'default' })
  await api('POST', `${features}/${revived}/environments/production/on`)
  await api('DELETE', `${features}/${revived}`)
  await page.goto(`/projects/${project}/archive`)
  await page.getByRole('button', { name: `Revive ${revived}` }).click()
  await expect(question).toBeVisible()
  await expect(question).not.toContainText('is frozen')
  await question.getByRole('radio', { name: 'On where it was on' }).click()
  await expect(question).toContainText(skipped)
  await liveFlag(page, api)
  await page.getByRole('button', { name: 'Actions', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Move to another project…' }).click()
  await expect(question).not.toContainText('is frozen')
  await pick(question.getByRole('combobox', { name: 'New project' }), project)
  await expect(question).toContainText(new RegExp(`Project ${project}: ${skipped.source}`))

  // Archiving skips nothing where the flag is off, and where it is drafted.
  const archiveAsks = async () => {
    await page.getByRole('button', { name: 'Actions', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Archive…' }).click()
  }
  const idle = unique('idle')
  await api('POST', features, { name: idle })
  await page.goto(`/projects/${project}/flags/${idle}`)
  await expect(page.getByText(/production is frozen until/)).toBeVisible()
  await archiveAsks()
  await expect(question).toContainText('Off in all environments')
  await expect(question).not.toContainText('is frozen')
  await api('PUT', `/api/admin/projects/${project}/environments/development/change-requests/config`, { changeRequestsEnabled: true, requiredApprovals: 1 })
  await page.goto(`/projects/${project}/flags/${flag}`)
  await expect(page.getByText(/production is frozen until/)).toBeVisible()
  await archiveAsks()
  await expect(question.getByRole('button', { name: 'Add to draft' })).toBeVisible()
  await expect(question).not.toContainText('is frozen')
  await api('PUT', `/api/admin/projects/${project}/environments/development/change-requests/config`, { changeRequestsEnabled: false })

  // Without the permission.
  const email = `${unique('olga')}@example.org`
  const { id } = await api('POST', '/api/admin/user-admin', { email, rootRole: 3, sendEmail: false })
  await api('POST', `/api/admin/projects/${project}/users/${id}/roles/4`)
  const olga = await signedIn(id)
  for (const view of [`/projects/${project}`, `/projects/${project}/flags/${flag}`]) {
    await olga.goto(view)
    await expect(olga.getByText(/production is frozen until/)).toBeVisible()
    await olga.getByRole('switch', { name: `${flag} in production` }).click()
    await expect(olga.getByRole('alert')).toHaveText(/: Holidays\. Only people with the permission “Change flags in a freeze” can skip that\./)
    await expect(olga.getByRole('dialog')).toHaveCount(0)
  }
})

test('an open page notices that its project is frozen or protected meanwhile', async ({ page, api }) => {
  const { flag } = await liveFlag(page, api)
  const project = unique('shop')
  await api('POST', '/api/admin/projects', { id: project, name: project })
  await api('POST', `/api/admin/projects/default/features/${flag}/changeProject`, { newProjectId: project })
  await page.goto(`/projects/${project}/flags/${flag}`)
  await expect(page.getByRole('switch', { name: `${flag} in production` })).toBeChecked()
  const environment = `/api/admin/projects/${project}/environments/production`
  await api('POST', `${environment}/freezes`, { reason: 'Holidays', to: new Date(Date.now() + 86_400_000).toISOString(), offAllowed: false })
  await expect(page.getByText(/production is frozen until/)).toBeVisible()
  await api('PUT', `${environment}/change-requests/config`, { changeRequestsEnabled: true, requiredApprovals: 1 })
  await expect(page.getByRole('button', { name: 'Change production directly' })).toBeVisible()
})
