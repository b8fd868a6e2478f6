// Forms whose changes are undone by their message.
import { expect, hide, noConsoleErrors, pick, test, undo, unique } from './fixtures'

test('settings, a default strategy and the order of environments are undone', async ({ page, api }) => {
  const check = noConsoleErrors(page)
  const messages = page.getByRole('region', { name: 'Messages' })
  const id = unique('shop')
  const flag = unique('checkout')
  await api('POST', '/api/admin/projects', { id, name: 'Shop' })
  await api('POST', `/api/admin/projects/${id}/features`, { name: flag, description: 'Before' })

  await page.goto(`/projects/${id}/flags/${flag}/settings`)
  const description = page.getByRole('textbox', { name: 'Description' })
  await description.fill('After')
  await page.getByRole('button', { name: 'Save settings' }).click()
  await undo(page, `${flag}: settings saved`)
  await expect(description).toHaveValue('Before')
  expect((await api('GET', `/api/admin/projects/${id}/features/${flag}`)).description).toBe('Before')

  await page.goto(`/projects/${id}/settings`)
  const name = page.getByLabel('Name (required)')
  await name.fill('Store')
  await page.getByRole('button', { name: 'Save settings' }).click()
  await undo(page, 'The settings are saved.')
  await expect(name).toHaveValue('Shop')
  expect((await api('GET', `/api/admin/projects/${id}/overview`)).name).toBe('Shop')

  // The first default strategy cannot be removed, so that it is not undone.
  await page.goto(`/projects/${id}/environments`)
  const percentages = ['30', '60']
  for (const percentage of percentages) {
    await page.getByRole('button', { name: /default strategy of production/ }).click()
    const dialog = page.getByRole('dialog', { name: 'Default strategy in production' })
    await dialog.getByRole('spinbutton', { name: 'Percentage' }).fill(percentage)
    await dialog.getByRole('button', { name: 'Save default strategy' }).click()
    await expect(dialog).toBeHidden()
    if (percentage === '30') await expect(messages.getByText('The default strategy in production is saved.')).toBeVisible()
    if (percentage === '30') await messages.getByRole('button', { name: 'Close message' }).click()
  }
  await undo(page, 'The default strategy in production is saved.')
  const { environments } = await api('GET', `/api/admin/environments/project/${id}`)
  expect(environments.find((one: { name: string }) => one.name === 'production').defaultStrategy.parameters.rollout).toBe('30')

  const order = async () => (await api('GET', '/api/admin/environments')).environments.map((one: { name: string }) => one.name)
  const before = await order()
  await page.goto('/environments')
  await page.getByRole('button', { name: `Move ${before[1]} up` }).click()
  await undo(page, 'The order is saved')
  expect(await order()).toEqual(before)
  check()
})

test('Undo of a switch removes the default strategy that it has added', async ({ page, api }) => {
  const check = noConsoleErrors(page)
  const messages = page.getByRole('region', { name: 'Messages' })
  const id = unique('shop')
  const flag = unique('checkout')
  await api('POST', '/api/admin/projects', { id, name: 'Shop' })
  await api('POST', `/api/admin/projects/${id}/features`, { name: flag })
  await api('POST', `/api/admin/projects/${id}/environments/development/default-strategy`, { name: 'flexibleRollout', parameters: { rollout: '30' } })
  const state = async () => {
    const { enabled, strategies } = await api('GET', `/api/admin/projects/${id}/features/${flag}/environments/development`)
    return [enabled, strategies.length]
  }
  for (const path of [`/projects/${id}/flags/${flag}`, `/projects/${id}`]) {
    await page.goto(path)
    await page.getByRole('switch', { name: `${flag} in development` }).click()
    await expect(messages.getByText(`${flag} is on in development, with the project's default strategy`)).toBeVisible()
    expect(await state()).toEqual([true, 1])
    await undo(page)
    expect(await state()).toEqual([false, 0])
  }
  check()
})

test('Undo of archiving adds the parents again, and Undo of removing an environment switches its flags on', async ({ page, api }) => {
  const check = noConsoleErrors(page)
  const id = unique('shop')
  const [parent, child] = [unique('parent'), unique('child')]
  await api('POST', '/api/admin/projects', { id, name: 'Shop' })
  for (const name of [parent, child]) await api('POST', `/api/admin/projects/${id}/features`, { name })
  const path = `/api/admin/projects/${id}/features/${child}`
  await api('POST', `${path}/dependencies`, { feature: parent, enabled: false })
  await api('POST', `${path}/environments/production/strategies`, { name: 'default' })
  await api('POST', `${path}/environments/production/on`)
  await api('PUT', path, { name: child, stale: true })
  const state = async () => {
    const { dependencies, environments } = await api('GET', path)
    return [...dependencies, environments.find((one: { name: string }) => one.name === 'production').enabled]
  }
  const before = [{ feature: parent, enabled: false, variants: [] }, true]
  expect(await state()).toEqual(before)
  const archive = async (text: string) => {
    await page
      .getByRole('dialog', { name: `Archive ${child}?` })
      .getByRole('button', { name: 'Archive' })
      .click()
    await undo(page, text)
    expect(await state()).toEqual(before)
  }

  await page.goto(`/projects/${id}`)
  await page.getByRole('checkbox', { name: `Select ${child}` }).check()
  await page.getByRole('group', { name: 'Selected flags' }).getByRole('button', { name: 'Archive' }).click()
  await archive('1 flag archived')

  await page.goto(`/projects/${id}/environments`)
  await page.getByRole('button', { name: 'Actions for production' }).click()
  await page.getByRole('menuitem', { name: 'Remove from the project' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove environment' }).click()
  await undo(page, 'production is removed from this project.')
  expect(await state()).toEqual(before)
  check()
})

test('Undo of switching on several flags removes the default strategies that this has added, and the question says whom they select', async ({ page, api }) => {
  const check = noConsoleErrors(page)
  const messages = page.getByRole('region', { name: 'Messages' })
  const id = unique('shop')
  const [bare, late, own] = ['bare', 'late', 'own'].map(unique) as [string, string, string]
  await api('POST', '/api/admin/projects', { id, name: 'Shop' })
  const constraints = [{ contextName: 'plan', operator: 'IN', values: ['beta'] }]
  await api('POST', `/api/admin/projects/${id}/environments/production/default-strategy`, {
    name: 'flexibleRollout',
    parameters: { rollout: '30' },
    constraints,
  })
  for (const name of [bare, late, own]) await api('POST', `/api/admin/projects/${id}/features`, { name })
  const add = (name: string) => api('POST', `/api/admin/projects/${id}/features/${name}/environments/production/strategies`, { name: 'default' })
  await add(own)
  const state = () =>
    Promise.all(
      [bare, late, own].map(async (name) => {
        const { enabled, strategies } = await api('GET', `/api/admin/projects/${id}/features/${name}/environments/production`)
        return [enabled, ...strategies.map((one: { name: string }) => one.name)]
      }),
    )
  await page.goto(`/projects/${id}`)
  await page.getByRole('checkbox', { name: 'Select all shown flags' }).check()
  const ask = async () => {
    await page.getByRole('group', { name: 'Selected flags' }).getByRole('button', { name: 'Switch on' }).click()
    await page.getByRole('menuitem', { name: 'production' }).click()
  }
  await ask()
  const question = page.getByRole('dialog', { name: 'Switch 3 flags on in production?' })
  await expect(question).toContainText("2 have no strategy there, so the project's default strategy is added: 30% of users, if plan is one of beta.")
  // While the question is open, another person adds a first strategy. It is not one that the switch adds.
  await add(late)
  await question.getByRole('button', { name: 'Switch on' }).click()
  await expect(question).toContainText('Someone changed these flags in production just now, so nothing was done. Close this and look at them again.')
  expect(await state()).toEqual([[false], [false, 'default'], [false, 'default']])
  await question.getByRole('button', { name: 'Cancel' }).click()
  await ask()
  await expect(question).toContainText("1 has no strategy there, so the project's default strategy is added: 30% of users, if plan is one of beta.")
  await question.getByRole('button', { name: 'Switch on' }).click()
  await expect(messages.getByText('3 flags switched on in production')).toBeVisible()
  expect(await state()).toEqual([
    [true, 'flexibleRollout'],
    [true, 'default'],
    [true, 'default'],
  ])
  await undo(page)
  expect(await state()).toEqual([[false], [false, 'default'], [false, 'default']])
  check()
})

test('Undo does not switch on a flag that another person has switched off, revived or given a strategy', async ({ page, api }) => {
  const messages = page.getByRole('region', { name: 'Messages' })
  const id = unique('shop')
  const flag = unique('checkout')
  const path = `/api/admin/projects/${id}/features/${flag}`
  const development = `${path}/environments/development`
  await api('POST', '/api/admin/projects', { id, name: 'Shop' })
  await api('POST', `/api/admin/projects/${id}/features`, { name: flag })
  await api('POST', `${development}/strategies`, { name: 'default' })
  await api('PUT', path, { name: flag, stale: true })
  const state = async () => {
    const { enabled, strategies } = await api('GET', development)
    return [enabled, ...strategies.map((one: { disabled: boolean }) => one.disabled)]
  }
  // Opens a page where the flag is on, which another person then switches off.
  const open = async (view: string, off = true) => {
    await api('POST', `${development}/on`)
    await page.goto(view)
    await expect(page.getByRole('main').getByText(flag).first()).toBeVisible()
    await hide(page)
    if (off) await api('POST', `${development}/off`)
  }
  const undoOf = async (message: string, undone = `“${message}” was undone`) => {
    await expect(messages.getByText(message, { exact: true })).toBeVisible()
    await messages.getByRole('button', { name: 'Undo' }).click()
    await expect(messages.getByText(undone, { exact: true })).toBeVisible()
  }
  const confirm = () =>
    page
      .getByRole('dialog', { name: `Archive ${flag}?` })
      .getByRole('button', { name: 'Archive' })
      .click()
  const flagPage = `/projects/${id}/flags/${flag}`
  const archive = async (off?: boolean) => {
    await open(flagPage, off)
    await page.getByRole('button', { name: 'Actions', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Archive…' }).click()
    await confirm()
  }
  const already = `Not undone. Before that, ${flag} was already off in development. Nothing was changed.`
  for (const view of [flagPage, `/projects/${id}`]) {
    await open(view)
    await page.getByRole('switch', { name: `${flag} in development` }).click()
    await undoOf(`${flag} is off in development`, already)
    expect(await state()).toEqual([false, false])
  }

  // Another person changes whom the flag selects, before Undo would switch it on again.
  await open(flagPage, false)
  await page.getByRole('switch', { name: `${flag} in development` }).click()
  await expect(messages.getByText(`${flag} is off in development`, { exact: true })).toBeVisible()
  const extra = await api<{ id: string }>('POST', `${development}/strategies`, { name: 'default' })
  await undoOf(`${flag} is off in development`, `Not undone. Meanwhile the strategies of ${flag} in development have changed. Nothing was undone.`)
  expect(await state()).toEqual([false, false, false])
  await api('DELETE', `${development}/strategies/${extra.id}`)

  await archive()
  await undoOf(`Flag ${flag} archived`)
  expect(await state()).toEqual([false, false])

  await open(`/projects/${id}`)
  await page.getByRole('checkbox', { name: `Select ${flag}` }).check()
  await page.getByRole('group', { name: 'Selected flags' }).getByRole('button', { name: 'Archive' }).click()
  await confirm()
  await undoOf('1 flag archived')
  expect(await state()).toEqual([false, false])

  // The same for several flags.
  await open(`/projects/${id}`, false)
  await page.getByRole('checkbox', { name: `Select ${flag}` }).check()
  await page.getByRole('group', { name: 'Selected flags' }).getByRole('button', { name: 'Switch off' }).click()
  await page.getByRole('menuitem', { name: 'development' }).click()
  await expect(messages.getByText('1 flag switched off in development')).toBeVisible()
  const another = await api<{ id: string }>('POST', `${development}/strategies`, { name: 'default' })
  await messages.getByRole('button', { name: 'Undo' }).click()
  await expect(messages.getByText(`Meanwhile ${flag} has changed in development. Nothing was undone.`)).toBeVisible()
  expect(await state()).toEqual([false, false, false])
  await api('DELETE', `${development}/strategies/${another.id}`)

  // A flag that was revived is not archived again if another person has switched it on.
  await api('DELETE', path)
  await page.goto(`/projects/${id}/archive`)
  await page.getByRole('button', { name: `Revive ${flag}` }).click()
  const revived = `${flag} is active again, and off in all environments.`
  await expect(messages.getByText(revived)).toBeVisible()
  await api('POST', `${development}/on`)
  await undoOf(revived, `Not undone. Meanwhile ${flag} was switched on. Nothing was undone.`)
  await api('POST', `${development}/off`)

  await archive(false)
  await expect(messages.getByText(`Flag ${flag} archived`)).toBeVisible()
  await api('POST', `/api/admin/archive/revive/${flag}`)
  await undoOf(`Flag ${flag} archived`, `Not undone. Meanwhile ${flag} was revived. Nothing was changed.`)
  expect(await state()).toEqual([false, false])

  const disable = async (off?: boolean) => {
    await open(flagPage, off)
    await page.getByRole('button', { name: 'More actions for strategy in development' }).click()
    await page.getByRole('menuitem', { name: 'Disable' }).click()
  }
  await disable()
  await undoOf(`${flag}: strategy disabled in development`)
  expect(await state()).toEqual([false, false])

  const done = `${flag}: strategy disabled in development, and the flag switched off: it was the last one that applied`
  await disable(false)
  await expect(messages.getByText(done)).toBeVisible()
  await api('POST', `${development}/strategies`, { name: 'default' })
  await undoOf(done, 'Not undone. The flag changed since. Nothing was undone.')
  expect(await state()).toEqual([false, true, false])
})

test('a flag that was moved goes back with Undo, and messages name the flag', async ({ page, api }) => {
  const messages = page.getByRole('region', { name: 'Messages' })
  const [from, to] = [unique('from'), unique('to')]
  const flag = unique('checkout')
  for (const id of [from, to]) await api('POST', '/api/admin/projects', { id, name: id })
  await api('POST', `/api/admin/projects/${from}/features`, { name: flag })
  await page.goto(`/projects/${from}/flags/${flag}`)
  const action = async (name: string) => {
    await page.getByRole('button', { name: 'Actions', exact: true }).click()
    await page.getByRole('menuitem', { name }).click()
  }
  await action('Move to another project…')
  const dialog = page.getByRole('dialog', { name: `Move ${flag}` })
  await pick(dialog.getByRole('combobox', { name: 'New project' }), to)
  await dialog.getByRole('button', { name: 'Move flag' }).click()
  await expect(messages.getByText(`${flag} moved to ${to}`, { exact: true })).toBeVisible()
  await expect(page).toHaveURL(new RegExp(`/projects/${to}/flags/${flag}$`))
  await undo(page)
  await expect(page).toHaveURL(new RegExp(`/projects/${from}/flags/${flag}$`))
  expect((await api('GET', `/api/admin/projects/${from}/features/${flag}`)).project).toBe(from)
  await action('Mark as stale')
  await expect(messages.getByText(`${flag} is marked as stale`, { exact: true })).toBeVisible()
})
