import { checkPage } from './checkpage'
import { expect, noConsoleErrors, test, unique } from './fixtures'

const rollout = (percent: number) => ({ name: 'flexibleRollout', parameters: { rollout: String(percent), stickiness: 'default', groupId: 'g' } })

test('the history restores a strategy: compared first, refused after a change by another, and undone', async ({ page, api }) => {
  const check = noConsoleErrors(page, /412|404/)
  const flag = unique('restored')
  await api('POST', '/api/admin/projects/default/features', { name: flag })
  const environment = `/api/admin/projects/default/features/${flag}/environments/production`
  const { id } = await api('POST', `${environment}/strategies`, rollout(20))
  await api('POST', `${environment}/on`)
  const strategy = `${environment}/strategies/${id}`
  const stored = async () => (await api('GET', strategy)).parameters.rollout
  await api('PUT', strategy, rollout(60))

  await page.goto(`/projects/default/flags/${flag}/history`)
  const history = page.getByRole('list', { name: `Changes of ${flag}` })
  await history.getByRole('article', { name: 'Strategy changed' }).getByRole('button', { name: 'Restore…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Restore from history' })
  // After this change is what is stored.
  await expect(dialog.getByRole('radio', { name: 'Before this change' })).toBeChecked()
  const diff = dialog.getByRole('region', { name: 'What restoring changes' })
  await expect(diff).toContainText('removed: "rollout": "60"')
  await expect(diff).toContainText('added: "rollout": "20"')
  await expect(dialog.getByText('production is a production environment')).toBeVisible()
  await checkPage(page, 'restore')
  await dialog.getByRole('radio', { name: 'After this change' }).check()
  await expect(dialog.getByRole('button', { name: 'Restore in production' })).toHaveAttribute('aria-disabled', 'true')
  await dialog.getByRole('radio', { name: 'Before this change' }).check()

  // Another person is faster: nothing is lost, and the difference is to their version.
  await api('PUT', strategy, rollout(70))
  await dialog.getByRole('button', { name: 'Restore in production' }).click()
  await expect(dialog.getByRole('alert')).toContainText('Someone else has just changed this')
  await expect(diff).toContainText('removed: "rollout": "70"')
  expect(await stored()).toBe('70')
  await dialog.getByRole('button', { name: 'Restore in production' }).click()
  const messages = page.getByRole('region', { name: 'Messages' })
  await expect(messages).toContainText(`Strategy of ${flag} restored in production`)
  expect(await stored()).toBe('20')
  await messages.getByRole('button', { name: 'Undo' }).click()
  await expect.poll(stored).toBe('70')

  // Undo, too, replaces no change of another person.
  const added = history.getByRole('article', { name: 'Strategy added' })
  await added.getByRole('button', { name: 'Restore…' }).click()
  await dialog.getByRole('button', { name: 'Restore in production' }).click()
  await expect(messages).toContainText('restored in production')
  await expect(dialog).toHaveCount(0)
  await api('PUT', strategy, rollout(80))
  await messages.getByRole('button', { name: 'Undo' }).first().click()
  await expect(messages).toContainText('Nothing was undone')
  expect(await stored()).toBe('80')
  check()
})

test('the history restores a removed strategy, and variants', async ({ page, api }) => {
  const check = noConsoleErrors(page, /404/)
  const flag = unique('removed')
  await api('POST', '/api/admin/projects/default/features', { name: flag })
  const environment = `/api/admin/projects/default/features/${flag}/environments/development`
  const { id } = await api('POST', `${environment}/strategies`, rollout(30))
  await api('DELETE', `${environment}/strategies/${id}`)
  await api('PUT', `${environment}/variants`, [{ name: 'blue', weight: 1000, weightType: 'variable', stickiness: 'default' }])
  await api('PUT', `${environment}/variants`, [])

  await page.goto(`/projects/default/flags/${flag}/history`)
  await page.getByRole('article', { name: 'Strategy removed' }).getByRole('button', { name: 'Restore…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Restore from history' })
  await expect(dialog.getByText('Restoring adds it again')).toBeVisible()
  await dialog.getByRole('button', { name: 'Restore in development' }).click()
  const messages = page.getByRole('region', { name: 'Messages' })
  await expect(messages).toContainText('restored in development')
  const strategies = async () => (await api('GET', `${environment}/strategies`)).map((one: { parameters: { rollout: string } }) => one.parameters.rollout)
  expect(await strategies()).toEqual(['30'])
  await messages.getByRole('button', { name: 'Undo' }).click()
  await expect.poll(strategies).toEqual([])

  await page.getByRole('article', { name: 'Variants changed' }).first().getByRole('button', { name: 'Restore…' }).click()
  await dialog.getByRole('button', { name: 'Restore in development' }).click()
  await expect(messages).toContainText(`Variants of ${flag} restored in development`)
  const variants = async () => (await api('GET', `${environment}/variants`)).variants.map((one: { name: string }) => one.name)
  expect(await variants()).toEqual(['blue'])
  check()
})
