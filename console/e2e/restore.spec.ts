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
  await history.getByRole('article', { name: 'Strategy changed' }).getByRole('button', { name: 'Restore' }).click()
  const dialog = page.getByRole('dialog', { name: 'Restore from history' })
  // After this change is what is stored.
  await expect(dialog.getByRole('radio', { name: 'Before this change' })).toBeChecked()
  await expect(dialog).toContainText('Rollout 60% → 20%')
  await expect(dialog.getByText('Applications follow with their next request.')).toBeVisible()
  await checkPage(page, 'restore')
  await dialog.getByRole('radio', { name: 'After this change' }).check()
  await expect(dialog.getByRole('button', { name: 'Restore in production' })).toHaveAttribute('aria-disabled', 'true')
  await dialog.getByRole('radio', { name: 'Before this change' }).check()

  // Another person is faster: nothing is lost, and the difference is to their version.
  await api('PUT', strategy, rollout(70))
  await dialog.getByRole('button', { name: 'Restore in production' }).click()
  await expect(dialog.getByRole('alert')).toContainText('Someone else has just changed this')
  await expect(dialog).toContainText('Rollout 70% → 20%')
  expect(await stored()).toBe('70')
  await dialog.getByRole('button', { name: 'Restore in production' }).click()
  const messages = page.getByRole('region', { name: 'Messages' })
  await expect(messages).toContainText(`Strategy of ${flag} restored in production`)
  expect(await stored()).toBe('20')
  await messages.getByRole('button', { name: 'Undo' }).click()
  await expect.poll(stored).toBe('70')

  // Undo, too, replaces no change of another person.
  const added = history.getByRole('article', { name: 'Strategy added' })
  await added.getByRole('button', { name: 'Restore' }).click()
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
  await page.getByRole('article', { name: 'Strategy removed' }).getByRole('button', { name: 'Restore' }).click()
  const dialog = page.getByRole('dialog', { name: 'Restore from history' })
  await expect(dialog.getByText('Restoring adds it again')).toBeVisible()
  await dialog.getByRole('button', { name: 'Restore', exact: true }).click()
  const messages = page.getByRole('region', { name: 'Messages' })
  await expect(messages).toContainText('restored in development')
  const strategies = async () => (await api('GET', `${environment}/strategies`)).map((one: { parameters: { rollout: string } }) => one.parameters.rollout)
  expect(await strategies()).toEqual(['30'])
  await messages.getByRole('button', { name: 'Undo' }).click()
  await expect.poll(strategies).toEqual([])

  await page.getByRole('article', { name: 'Variants changed' }).first().getByRole('button', { name: 'Restore' }).click()
  await dialog.getByRole('button', { name: 'Restore', exact: true }).click()
  await expect(messages).toContainText(`Variants of ${flag} restored in development`)
  const variants = async () => (await api('GET', `${environment}/variants`)).variants.map((one: { name: string }) => one.name)
  expect(await variants()).toEqual(['blue'])
  check()
})

test('after a change by another, Restore still restores the version that was shown', async ({ page, api }) => {
  const check = noConsoleErrors(page, /412/)
  const flag = unique('overtaken')
  await api('POST', '/api/admin/projects/default/features', { name: flag })
  const environment = `/api/admin/projects/default/features/${flag}/environments/development`
  const { id } = await api('POST', `${environment}/strategies`, rollout(20))
  const strategy = `${environment}/strategies/${id}`
  await api('PUT', strategy, rollout(60))

  await page.goto(`/projects/default/flags/${flag}/history`)
  await page.getByRole('article', { name: 'Strategy changed' }).getByRole('button', { name: 'Restore' }).click()
  const dialog = page.getByRole('dialog', { name: 'Restore from history' })
  await expect(dialog).toContainText('Rollout 60% → 20%')
  // The version after the change is no longer what is stored, so that it could be restored, too.
  await api('PUT', strategy, rollout(70))
  const restore = dialog.getByRole('button', { name: 'Restore', exact: true })
  await restore.click()
  await expect(dialog.getByRole('alert')).toContainText('Someone else has just changed this')
  await expect(dialog).toContainText('Rollout 70% → 20%')
  await expect(dialog.getByRole('radio', { name: 'Before this change' })).toBeChecked()
  await restore.click()
  await expect(page.getByRole('region', { name: 'Messages' })).toContainText(`Strategy of ${flag} restored in development`)
  expect((await api('GET', strategy)).parameters.rollout).toBe('20')
  check()
})

test('the history restores the order of strategies', async ({ page, api }) => {
  const check = noConsoleErrors(page, /412/)
  const flag = unique('ordered')
  await api('POST', '/api/admin/projects/default/features', { name: flag })
  const environment = `/api/admin/projects/default/features/${flag}/environments/production`
  const add = async (title: string) => (await api('POST', `${environment}/strategies`, { ...rollout(10), title })).id as string
  const order = (...ids: string[]) =>
    api(
      'POST',
      `${environment}/strategies/set-sort-order`,
      ids.map((id, index) => ({ id, sortOrder: index + 1 })),
    )
  const [first, second, gone] = [await add('first'), await add('second'), await add('gone')]
  await api('POST', `${environment}/on`)
  await order(gone, second, first)
  await api('DELETE', `${environment}/strategies/${gone}`)
  const added = await add('added')

  await page.goto(`/projects/default/flags/${flag}/history`)
  await page.getByRole('article', { name: 'Strategies reordered' }).getByRole('button', { name: 'Restore' }).click()
  const dialog = page.getByRole('dialog', { name: 'Restore from history' })
  const diff = dialog.getByRole('region', { name: 'What restoring changes' })
  await expect(diff).toContainText('first')
  await expect(dialog.getByText('Applications follow with their next request.')).toBeVisible()
  await checkPage(page, 'restore-order')
  // Another person is faster.
  await order(added, second, first)
  const restore = dialog.getByRole('button', { name: 'Restore in production' })
  await restore.click()
  await expect(dialog.getByRole('alert')).toContainText('Someone else has just changed this')
  const titles = async () => (await api('GET', `${environment}/strategies`)).map((one: { title: string }) => one.title)
  expect(await titles()).toEqual(['added', 'second', 'first'])
  await order(second, first, added)
  await restore.click()
  await expect(dialog.getByRole('alert')).toContainText('Someone else has just changed this')
  await restore.click()
  const messages = page.getByRole('region', { name: 'Messages' })
  await expect(messages).toContainText(`Order of the strategies of ${flag} restored in production`)
  expect(await titles()).toEqual(['first', 'second', 'added'])
  await messages.getByRole('button', { name: 'Undo' }).click()
  await expect.poll(titles).toEqual(['second', 'first', 'added'])
  check()
})

test('the history restores the description and the type of a flag', async ({ page, api }) => {
  const check = noConsoleErrors(page, /400/)
  const flag = unique('described')
  await api('POST', '/api/admin/projects/default/features', { name: flag, description: 'For the new till' })
  const path = `/api/admin/projects/default/features/${flag}`
  const put = (description: string, type: string) => api('PUT', path, { description, type, impressionData: true })
  await put('Oops', 'kill-switch')

  await page.goto(`/projects/default/flags/${flag}/history`)
  await page.getByRole('article', { name: 'Flag edited' }).getByRole('button', { name: 'Restore' }).click()
  const dialog = page.getByRole('dialog', { name: 'Restore from history' })
  await expect(dialog).toContainText('Description Oops → For the new till')
  await expect(dialog).toContainText('Type kill-switch → release')
  await checkPage(page, 'restore-settings')
  await put('Not so fast', 'kill-switch')
  const restore = dialog.getByRole('button', { name: 'Restore', exact: true })
  await restore.click()
  await expect(dialog.getByRole('alert')).toContainText('Someone else has just changed this')
  await expect(dialog).toContainText('Description Not so fast → For the new till')
  await restore.click()
  const messages = page.getByRole('region', { name: 'Messages' })
  await expect(messages).toContainText(`Settings of ${flag} restored`)
  const stored = async () => {
    const { description, type, impressionData } = await api('GET', path)
    return [description, type, impressionData]
  }
  expect(await stored()).toEqual(['For the new till', 'release', false])
  await messages.getByRole('button', { name: 'Undo' }).click()
  await expect.poll(stored).toEqual(['Not so fast', 'kill-switch', true])
  check()
})

test('the history restores tags, and keeps those that it is not about', async ({ page, api }) => {
  const check = noConsoleErrors(page)
  const flag = unique('tagged')
  await api('POST', '/api/admin/projects/default/features', { name: flag })
  const path = `/api/admin/features/${flag}/tags`
  const tag = (value: string) => ({ type: 'simple', value })
  const tags = async () => (await api('GET', path)).tags.map(({ value }: { value: string }) => value).sort()
  await api('POST', path, tag('till'))
  await api('PUT', path, { addedTags: [tag('wrong')], removedTags: [tag('till')] })
  await api('POST', path, tag('later'))

  await page.goto(`/projects/default/flags/${flag}/history`)
  const changes = page.getByRole('article', { name: 'Tag added' })
  await changes.nth(1).getByRole('button', { name: 'Restore' }).click()
  const dialog = page.getByRole('dialog', { name: 'Restore from history' })
  const diff = dialog.getByRole('region', { name: 'What restoring changes' })
  await expect(diff).toContainText('removed: "simple:wrong"')
  await expect(diff).toContainText('added: "simple:till"')
  await checkPage(page, 'restore-tags')
  await api('POST', path, tag('meanwhile'))
  const restore = dialog.getByRole('button', { name: 'Restore', exact: true })
  await restore.click()
  const messages = page.getByRole('region', { name: 'Messages' })
  await expect(messages).toContainText(`Tags of ${flag} restored`)
  expect(await tags()).toEqual(['later', 'meanwhile', 'till'])
  await messages.getByRole('button', { name: 'Undo' }).click()
  await expect.poll(tags).toEqual(['later', 'meanwhile', 'wrong'])

  // A tag that was added alone: before it, the flag did not have it.
  await expect(changes).toHaveCount(6)
  await changes.nth(3).getByRole('button', { name: 'Restore' }).click()
  await expect(diff).toContainText('removed: "simple:later"')
  await restore.click()
  await expect.poll(tags).toEqual(['meanwhile', 'wrong'])
  check()
})
