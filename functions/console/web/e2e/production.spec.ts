// Changes that applications in production follow at once: each asks, says what it did, and is undone.
import type { Page } from '@playwright/test'
import { expect, noConsoleErrors, test, unique, type Api } from './fixtures'

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
    await choose(entry)
    const dialog = page.getByRole('dialog', { name: `${entry} the strategy of ${flag} in production?` })
    await expect(dialog).toContainText('production is a production environment')
    await expect(dialog).toContainText('10% of users')
    await expect(dialog).toContainText('No other strategy applies here, so the flag is switched off, too.')
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    expect(await state()).toEqual([true, '10'])

    await choose(entry)
    await dialog.getByRole('button', { name: entry }).click()
    await expect(messages.getByText(`${flag}: strategy ${done} production, and the flag switched off`)).toBeVisible()
    expect(await state()).toEqual([false])
    await messages.getByRole('button', { name: 'Undo' }).click()
    await expect(messages.getByText('Undone.')).toBeVisible()
    expect(await state()).toEqual([true, '10'])
    await expect(page.getByRole('switch', { name: `${flag} in production` })).toBeChecked()
    check()
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
  await messages.getByRole('button', { name: 'Undo' }).click()
  await expect(messages.getByText('Undone.')).toBeVisible()
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
