// Segments and context fields, with the editor of constraints.
import { checkPage } from './checkpage'
import { type Api, expect, noConsoleErrors, pick, test, undo, unique } from './fixtures'

// The checks of pages take most of the time, and much more of it on a busy machine.
test.describe.configure({ timeout: 120_000 })

/** Creates a context field whose legal values are NO and SE. */
async function createField(api: Api) {
  const name = unique('country')
  await api('POST', '/api/admin/context', {
    name,
    description: 'Where the user lives.',
    legalValues: [{ value: 'NO', description: 'Norway' }, { value: 'SE' }],
  })
  return name
}

async function createSegment(api: Api, name = unique('segment')) {
  const segment = await api('POST', '/api/admin/segments', {
    name,
    constraints: [
      { contextName: 'userId', operator: 'IN', values: ['1', '2'] },
      { contextName: 'appVersion', operator: 'SEMVER_GTE', value: '2.1.0' },
      { contextName: 'currentTime', operator: 'DATE_AFTER', value: '2026-01-31T12:00:00Z', inverted: true },
      { contextName: 'email', operator: 'STR_ENDS_WITH', values: ['@example.com'], caseInsensitive: true },
    ],
  })
  return { name, id: segment.id as number }
}

test('a segment is created, used, and cannot be deleted while a strategy uses it', async ({ page, api }) => {
  const check = noConsoleErrors(page, /409|404/) // 404: the page may be refreshed after the deletion, before it is left
  const name = unique('beta users')
  const flag = unique('checkout')
  await page.goto('/segments')
  await page.getByRole('button', { name: 'Create segment' }).first().click()
  await expect(page).toHaveURL('/segments/new')
  await page.getByRole('textbox', { name: /^Name/ }).fill(name)
  await page.getByRole('button', { name: 'Remove constraint 1' }).click()
  await expect(page.getByText('Without a constraint everyone is in the segment.')).toBeVisible()
  await page.getByRole('button', { name: 'Add constraint' }).click()
  const field = page.getByRole('combobox', { name: 'Context field' })
  await expect(field).toBeFocused()
  await field.fill('user')
  await page.getByRole('option', { name: /^userId/ }).click()
  await expect(field).toHaveValue('userId')
  const values = page.getByRole('combobox', { name: 'Values' })
  await values.fill('1')
  await values.press('Enter')
  await values.fill('2, 3')
  await values.press('Enter')
  await expect(page.getByRole('button', { name: 'Remove 3' })).toBeVisible()
  await values.press('Backspace')
  await expect(page.getByText('A user is in the segment if userId is one of 1 or 2.')).toBeVisible()
  await page.getByRole('button', { name: 'Create segment' }).click()
  await expect(page.getByRole('heading', { level: 1, name })).toBeVisible()
  await expect(page).toHaveURL(/\/segments\/\d+$/)
  await expect(page.getByText('No strategy uses it yet.')).toBeVisible()

  const id = Number(/\d+$/.exec(page.url())![0])
  await api('POST', '/api/admin/projects/default/features', { name: flag })
  const strategies = `/api/admin/projects/default/features/${flag}/environments/development/strategies`
  const strategy = await api('POST', strategies, { name: 'default', segments: [id] })
  await page.reload()
  await expect(page.getByRole('table', { name: `Strategies that use ${name}` }).getByRole('link', { name: flag })).toBeVisible()
  await page.getByRole('button', { name: 'Delete segment' }).click()
  await expect(page.getByRole('alert').filter({ hasText: flag })).toBeVisible()

  await api('DELETE', `${strategies}/${strategy.id}`)
  await page.getByRole('button', { name: 'Delete segment' }).click()
  await expect(page).toHaveURL('/segments')
  await expect(page.getByRole('link', { name })).toBeHidden()
  await page.getByRole('button', { name: 'Undo' }).click()
  await expect(page.getByRole('link', { name })).toBeVisible()
  check()
})

test('a context field with legal values is used in a constraint', async ({ page }) => {
  const check = noConsoleErrors(page)
  const name = unique('country')
  await page.goto('/context')
  await page.getByRole('button', { name: 'Create context field' }).click()
  const dialog = page.getByRole('dialog', { name: 'Create context field' })
  await dialog.getByRole('textbox', { name: /^Name/ }).fill(name)
  await dialog.getByRole('checkbox', { name: 'Use for stickiness' }).check()
  await dialog.getByRole('textbox', { name: 'Legal values' }).fill('NO, SE\nDK')
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  await dialog.getByRole('textbox', { name: 'Meaning of NO, SE' }).waitFor()
  await dialog.getByRole('button', { name: 'Remove NO, SE' }).click()
  await dialog.getByRole('textbox', { name: 'Legal values' }).fill('NO, SE')
  await dialog.getByRole('textbox', { name: 'Legal values' }).press('Enter')
  await dialog.getByRole('textbox', { name: 'Meaning of NO' }).fill('Norway')
  await dialog.getByRole('button', { name: 'Create context field' }).click()
  await expect(dialog).toBeHidden()
  const row = page.getByRole('row').filter({ hasText: name })
  await expect(row).toContainText('SE')

  await page.goto('/segments/new')
  await page.getByRole('textbox', { name: /^Name/ }).fill(unique('north'))
  await page.getByRole('combobox', { name: 'Context field' }).fill(name)
  const values = page.getByRole('combobox', { name: 'Values' })
  await values.click()
  await expect(page.getByRole('option')).toHaveCount(3)
  await values.press('ArrowDown')
  await expect(page.getByRole('option', { name: 'DK' })).toHaveAttribute('data-highlighted', '')
  await values.press('ArrowDown')
  await values.press('Enter')
  await expect(page.getByRole('button', { name: 'Remove NO' })).toBeVisible()
  await values.fill('XX')
  await values.press('Enter')
  await expect(page.getByText('XX is not a legal value of the field.')).toBeVisible()
  await page.getByRole('button', { name: 'Remove XX' }).click()
  await expect(page.getByText(`A user is in the segment if ${name} is one of NO.`)).toBeVisible()
  await page.getByRole('button', { name: 'Create segment' }).click()
  await expect(page).toHaveURL(/\/segments\/\d+$/)

  await page.goto('/context')
  await page.getByRole('button', { name: `Actions for ${name}` }).click()
  await page.getByRole('menuitem', { name: 'Edit' }).click()
  const edit = page.getByRole('dialog', { name: `Context field ${name}` })
  await expect(edit.getByRole('textbox', { name: 'Meaning of NO' })).toHaveValue('Norway')
  await page.goBack()
  await expect(edit).toBeHidden()
  check()
})

test('the messages of the server are shown at the values of a constraint', async ({ page }) => {
  const check = noConsoleErrors(page, /400/)
  await page.goto('/segments/new')
  await page.getByRole('textbox', { name: /^Name/ }).fill(unique('invalid'))
  await page.getByRole('combobox', { name: 'Context field' }).fill('remoteAddress')
  await pick(page.getByRole('combobox', { name: 'Operator' }), 'is in the network')
  const values = page.getByRole('combobox', { name: 'Values' })
  await values.fill('10.0.0.0/8, 10.0.0.300')
  await values.press('Enter')
  await page.getByRole('button', { name: 'Add constraint' }).click()
  await page.getByRole('combobox', { name: 'Context field' }).nth(1).fill('age')
  await pick(page.getByRole('combobox', { name: 'Operator' }).nth(1), '> greater than')
  await page.getByRole('textbox', { name: 'Number' }).fill('old')
  await page.getByRole('button', { name: 'Create segment' }).click()
  await expect(page.getByText(/^10\.0\.0\.300: Must be an IP address/)).toBeVisible()
  await expect(values).toBeFocused()
  await expect(values).toHaveAttribute('aria-invalid', 'true')
  await expect(page.getByRole('textbox', { name: 'Number' })).toHaveAccessibleDescription(/Must be a decimal number/)
  await checkPage(page, 'segment-errors')
  await page.getByRole('button', { name: 'Remove 10.0.0.300' }).click()
  await expect(page.getByText(/^10\.0\.0\.300: /)).toBeHidden()
  check()
})

test('many values are pasted at once', async ({ page }) => {
  await page.goto('/segments/new')
  const values = page.getByRole('combobox', { name: 'Values' })
  await values.focus()
  await values.evaluate((input) => {
    const clipboardData = new DataTransfer()
    clipboardData.setData('text', Array.from({ length: 60 }, (_, index) => `user-${index}`).join('\n'))
    input.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }))
  })
  await expect(page.getByRole('button', { name: /^Remove user-/ })).toHaveCount(40)
  await page.getByRole('button', { name: 'Show all 60' }).click()
  await expect(page.getByRole('button', { name: /^Remove user-/ })).toHaveCount(60)
  await page.getByRole('button', { name: 'Remove all values' }).click()
  await expect(page.getByRole('button', { name: /^Remove user-/ })).toHaveCount(0)
})

test('two people edit a segment: the second sees what changed', async ({ page, api }) => {
  const check = noConsoleErrors(page, /412/)
  const { name, id } = await createSegment(api)
  const change = (description: string) => api('PUT', `/api/admin/segments/${id}`, { name, description, constraints: [] })
  const stored = () => api('GET', `/api/admin/segments/${id}`)
  await page.goto(`/segments/${id}?edit=true`)
  const description = page.getByRole('textbox', { name: 'Description' })
  await description.fill('mine')
  await change('theirs')
  await page.getByRole('button', { name: 'Save segment' }).click()
  const dialog = page.getByRole('dialog', { name: /changed this segment while you were editing it/ })
  await expect(dialog).toContainText('theirs')
  await checkPage(page, 'segment-conflict')
  expect((await stored()).description).toBe('theirs')
  await dialog.getByRole('button', { name: 'Overwrite with mine' }).click()
  await expect(dialog).toBeHidden()
  await expect(page.getByRole('button', { name: 'Save segment' })).toHaveAttribute('aria-disabled', 'true')
  expect((await stored()).description).toBe('mine')

  await description.fill('mine again')
  await change('theirs again')
  await page.getByRole('button', { name: 'Save segment' }).click()
  await dialog.getByRole('button', { name: 'Discard mine and reload' }).click()
  await expect(description).toHaveValue('theirs again')
  check()
})

test('saving a segment asks where flags that are on in production use it, and Undo brings it back', async ({ page, api }) => {
  const check = noConsoleErrors(page)
  // A search separates names by commas.
  for (const { name, id } of [await createSegment(api), await createSegment(api, unique('beta, gamma'))]) {
    const [on, off] = [unique('on'), unique('off')]
    for (const flag of [on, off]) {
      const path = `/api/admin/projects/default/features/${flag}`
      await api('POST', '/api/admin/projects/default/features', { name: flag })
      for (const environment of ['development', 'production'])
        await api('POST', `${path}/environments/${environment}/strategies`, { name: 'default', segments: [id] })
      await api('POST', `${path}/environments/${flag === on ? 'production' : 'development'}/on`)
    }
    const operators = async () => (await api('GET', `/api/admin/segments/${id}`)).constraints.map((one: { operator: string }) => one.operator)
    const messages = page.getByRole('region', { name: 'Messages' })
    const save = page.getByRole('button', { name: 'Save segment' })
    const removeAll = async () => {
      for (let last = 4; last > 0; last--) await page.getByRole('button', { name: `Remove constraint ${last}` }).click()
    }
    await page.goto(`/segments/${id}?edit=true`)
    await page.getByRole('textbox', { name: 'Description' }).fill('Asks nothing')
    await save.click()
    await expect(messages.getByText('Segment saved')).toBeVisible()
    await messages.getByRole('button', { name: 'Close message' }).click()

    await removeAll()
    await save.click()
    const dialog = page.getByRole('dialog', { name: `Save ${name}?` })
    await expect(dialog).toContainText('Applications follow with their next request.')
    await expect(dialog).toContainText('userId is one of 1 or 2, and ')
    await expect(dialog).toContainText('→ Everyone')
    await expect(dialog.getByRole('listitem')).toHaveText([`${on} in production Prod (project Default)`])
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    expect(await operators()).toHaveLength(4)

    // While the question is open, another flag that uses the segment is switched on.
    await save.click()
    await expect(dialog.getByRole('listitem')).toHaveCount(1)
    await api('POST', `/api/admin/projects/default/features/${off}/environments/production/on`)
    await dialog.getByRole('button', { name: 'Save segment' }).click()
    await expect(dialog).toContainText('Meanwhile the flags that are on and use the segment have changed. Nothing was saved: look at them again.')
    await expect(dialog.getByRole('listitem')).toHaveCount(2)
    expect(await operators()).toHaveLength(4)
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await api('POST', `/api/admin/projects/default/features/${off}/environments/production/off`)

    await save.click()
    await dialog.getByRole('button', { name: 'Save segment' }).click()
    await expect(messages.getByText('Segment saved')).toBeVisible()
    expect(await operators()).toEqual([])
    await undo(page)
    expect(await operators()).toEqual(['IN', 'SEMVER_GTE', 'DATE_AFTER', 'STR_ENDS_WITH'])
    await expect(page.getByText('@example.com', { exact: true })).toBeVisible()

    await api('POST', `/api/admin/projects/default/features/${on}/environments/production/off`)
    await removeAll()
    await save.click()
    await expect.poll(operators).toEqual([])
  }
  check()
})

test('a person without the permission sees a segment, and why it cannot be changed', async ({ signedIn, api }) => {
  const { name, id } = await createSegment(api)
  const roles = await api('GET', '/api/admin/roles')
  const viewer = roles.roles.find((role: { name: string }) => role.name === 'Viewer')
  const user = await api('POST', '/api/admin/user-admin', { username: unique('viewer'), rootRole: viewer.id })
  const page = await signedIn(user.id)
  await page.goto('/segments')
  await expect(page.getByRole('button', { name: 'Create segment' })).toHaveAccessibleDescription(/You need the permission “Change segments”/)
  await page.getByRole('link', { name }).click()
  await expect(page.getByRole('heading', { level: 1, name })).toBeVisible()
  await expect(page.getByRole('textbox')).toHaveCount(0)
  await expect(page.getByText('@example.com', { exact: true })).toBeVisible()
  await expect(page.getByRole('button', { name: 'Edit', exact: true })).toHaveAccessibleDescription(/You need the permission “Change segments”/)
  await checkPage(page, 'segment-read-only')
  await page.goto(`/segments/${id + 1_000_000}`)
  await expect(page.getByRole('heading', { name: 'Not found' })).toBeVisible()
})

test('the pages of segments and context fields', async ({ page, api }) => {
  const check = noConsoleErrors(page)
  const { name, id } = await createSegment(api)
  const field = await createField(api)
  await page.goto(`/segments?q=${name}`)
  await expect(page.getByRole('link', { name })).toBeVisible()
  await expect(page).toHaveTitle('Segments · Guidon')
  await checkPage(page, 'segments')
  await page.goto(`/segments/${id}`)
  await expect(page.getByText('No strategy uses it yet.')).toBeVisible()
  await checkPage(page, 'segment')
  await page.goto('/context')
  await page.getByRole('button', { name: field, exact: true }).click()
  await expect(page.getByRole('dialog').getByText('No strategy uses it yet.')).toBeVisible()
  await checkPage(page, 'context-field')
  await page.getByRole('button', { name: 'Close', exact: true }).click()
  await checkPage(page, 'context')
  // Deleting a field can be undone.
  await page.getByRole('button', { name: `Actions for ${field}` }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await expect(page.getByRole('row').filter({ hasText: field })).toHaveCount(0)
  await page.getByRole('button', { name: 'Undo' }).click()
  await expect(page.getByRole('row').filter({ hasText: field })).toContainText('NO')
  expect((await api('GET', `/api/admin/context/${field}`)).legalValues).toEqual([{ value: 'NO', description: 'Norway' }, { value: 'SE' }])
  check()
})
