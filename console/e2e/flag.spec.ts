import type { Page } from '@playwright/test'
import { checkPage } from './checkpage'
import { type Api, expect, noConsoleErrors, pick, test, undo, unique } from './fixtures'

const features = '/api/admin/projects/default/features'

/** Creates a flag without strategies. */
async function newFlag(api: Api, name = unique('checkout')): Promise<string> {
  await api('POST', features, { name, description: 'The checkout in one page.' })
  return name
}

const strategiesOf = (flag: string, environment: string) => `${features}/${flag}/environments/${environment}/strategies`
const pageOf = (flag: string) => `/projects/default/flags/${flag}`

/** Creates a flag with strategies, variants, a tag and a parent. */
async function fullFlag(api: Api): Promise<string> {
  const flag = await newFlag(api)
  const parent = await newFlag(api, unique('parent'))
  const segment = await api('POST', '/api/admin/segments', {
    name: unique('Beta users'),
    constraints: [{ contextName: 'userId', operator: 'IN', values: ['1', '2', '3'] }],
  })
  await api('POST', strategiesOf(flag, 'production'), {
    name: 'flexibleRollout',
    title: 'Beta users in the north',
    parameters: { rollout: 25, stickiness: 'userId' },
    segments: [segment.id],
    constraints: [
      { contextName: 'country', operator: 'IN', values: ['NO', 'SE', 'DK'] },
      { contextName: 'appVersion', operator: 'SEMVER_GTE', value: '2.4.0' },
    ],
    variants: [
      { name: 'blue', weight: 0, weightType: 'variable', stickiness: 'userId', payload: { type: 'json', value: '{"color":"#00f"}' } },
      { name: 'green', weight: 300, weightType: 'fix', stickiness: 'userId' },
    ],
  })
  await api('POST', strategiesOf(flag, 'production'), { name: 'remoteAddress', parameters: { IPs: '10.0.0.0/8,192.168.1.7' } })
  await api('POST', strategiesOf(flag, 'production'), { name: 'default', disabled: true, title: 'Everyone, later' })
  await api('POST', `${features}/${flag}/environments/production/on`)
  await api('PUT', `${features}/${flag}/environments/development/variants`, [
    { name: 'short', weight: 0, payload: { type: 'string', value: 'Buy' } },
    { name: 'long', weight: 200, weightType: 'fix', overrides: [{ contextName: 'userId', values: ['7'] }] },
  ])
  await api('POST', `${features}/${flag}/dependencies`, { feature: parent })
  await api('POST', `/api/admin/features/${flag}/tags`, { type: 'simple', value: 'checkout' })
  return flag
}

test('the overview of a flag', async ({ page, api }) => {
  const check = noConsoleErrors(page)
  const flag = await fullFlag(api)
  await page.goto(pageOf(flag))
  await expect(page.getByRole('heading', { level: 1, name: flag })).toBeVisible()
  await expect(page.getByRole('article', { name: 'Strategy 1: Beta users in the north' })).toContainText('25% of users')
  await page.getByRole('button', { name: 'Show the details of Strategy 1: Beta users in the north' }).click()
  await expect(page.getByRole('list', { name: 'Variants of strategy 1 in production' })).toContainText('green30%')
  await expect(page).toHaveTitle(`Overview · ${flag} · Guidon`)
  await checkPage(page, 'flag-overview')
  check()
})

test('the editor of a strategy', async ({ page, api }) => {
  const check = noConsoleErrors(page)
  const flag = await fullFlag(api)
  await page.goto(pageOf(flag))
  await page.getByRole('button', { name: 'Edit strategy 1 in production' }).click()
  await expect(page.getByRole('dialog')).toContainText('25% of users in segment Beta users')
  // The open strategy is part of the address.
  await page.reload()
  await expect(page.getByRole('dialog')).toContainText('25% of users in segment Beta users')
  await checkPage(page, 'flag-strategy')
  await page.keyboard.press('Escape')
  await expect(page.getByRole('dialog')).toBeHidden()
  check()
})

test('the variants of a flag', async ({ page, api }) => {
  const check = noConsoleErrors(page)
  await page.goto(`${pageOf(await fullFlag(api))}/variants`)
  await expect(page.getByRole('table', { name: 'Variants in development' })).toContainText('80%')
  await checkPage(page, 'flag-variants')
  check()
})

test('the editor of variants', async ({ page, api }) => {
  const check = noConsoleErrors(page)
  await page.goto(`${pageOf(await fullFlag(api))}/variants`)
  await page.getByRole('button', { name: 'Edit variants in development' }).click()
  await expect(page.getByRole('textbox', { name: 'Name' }).first()).toHaveValue('short')
  await checkPage(page, 'flag-variants-editor')
  check()
})

test('the settings of a flag', async ({ page, api }) => {
  const check = noConsoleErrors(page)
  await page.goto(`${pageOf(await fullFlag(api))}/settings`)
  await expect(page.getByRole('heading', { name: 'Lifecycle' })).toBeVisible()
  await expect(page.getByRole('combobox', { name: 'Type' })).toHaveText('Release')
  await checkPage(page, 'flag-settings')
  check()
})

test('switching on a flag without a strategy asks who gets it', async ({ page, api }) => {
  const flag = await newFlag(api)
  await page.goto(pageOf(flag))
  const production = page.getByRole('switch', { name: `${flag} in production` })
  await production.click()
  await expect(page.getByRole('dialog')).toContainText(`Who gets ${flag} in production?`)
  await checkPage(page, 'flag-first-strategy')
  await page.getByRole('button', { name: 'Switch on' }).click()
  await expect(production).toBeChecked()
  await expect(page.getByRole('article')).toContainText('10% of users')
  await page.getByRole('button', { name: 'Undo' }).click()
  await expect(page.getByRole('article')).toHaveCount(0)
  await expect(production).not.toBeChecked()
})

test('a strategy with a constraint and a segment selects whom it says', async ({ page, api }) => {
  const check = noConsoleErrors(page, /status of 400/)
  const flag = await newFlag(api)
  const segment = unique('Beta users')
  await api('POST', '/api/admin/segments', { name: segment, constraints: [{ contextName: 'plan', operator: 'IN', values: ['beta'] }] })
  await page.goto(pageOf(flag))
  await page.getByRole('button', { name: 'Add strategy in development' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('combobox', { name: 'Segments' }).fill(segment)
  await page.getByRole('option', { name: segment }).click()
  await page.keyboard.press('Tab')
  await dialog.getByRole('button', { name: 'Add constraint' }).click()
  const constraint = dialog.getByRole('group', { name: 'Constraint 1' })
  await constraint.getByRole('combobox', { name: 'Context field' }).fill('country')
  await page.keyboard.press('Tab')
  // A constraint without values is refused by the server, at the field.
  await dialog.getByRole('button', { name: 'Add strategy' }).click()
  await expect(constraint.getByRole('combobox', { name: 'Values' })).toHaveAttribute('aria-invalid', 'true')
  await constraint.getByRole('combobox', { name: 'Values' }).fill('NO')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Tab')
  await expect(dialog).toContainText(`Everyone in segment ${segment}, if country is one of NO`)
  await dialog.getByRole('button', { name: 'Add strategy' }).click()
  await expect(dialog).toBeHidden()
  const strategy = page.getByRole('article', { name: 'Strategy 1: Gradual rollout' })
  await expect(strategy).toContainText(`Everyone in segment ${segment}`)
  await strategy.getByRole('button', { name: /^Show the details/ }).click()
  await expect(strategy.getByRole('link', { name: segment })).toBeVisible()
  await page.getByRole('switch', { name: `${flag} in development` }).click()
  await expect(page.getByText('On in development')).toBeVisible()

  const evaluate = async (properties: Record<string, string>) => {
    const body = { environment: 'development', projects: ['default'], context: { appName: 'shop', userId: '1', properties } }
    const { features: results } = await api<{ features: { name: string; isEnabled: boolean }[] }>('POST', '/api/admin/playground', body)
    return results.find((one) => one.name === flag)?.isEnabled
  }
  expect(await evaluate({ country: 'NO', plan: 'beta' })).toBe(true)
  expect(await evaluate({ country: 'NO', plan: 'free' })).toBe(false)
  expect(await evaluate({ country: 'DE', plan: 'beta' })).toBe(false)
  check()
})

test('the preview of a rollout says what the server decides', async ({ page, api }) => {
  const flag = await newFlag(api)
  await api('POST', strategiesOf(flag, 'development'), { name: 'flexibleRollout', parameters: { rollout: 50, stickiness: 'userId' } })
  await api('POST', `${features}/${flag}/environments/development/on`)
  await page.goto(pageOf(flag))
  await page.getByRole('button', { name: 'Edit strategy in development' }).click()
  for (const userId of ['1', '2', '3', '42', 'ada@example.com']) {
    const { features: results } = await api('POST', '/api/admin/playground', {
      environment: 'development',
      projects: ['default'],
      context: { appName: 'shop', userId },
    })
    const on = results.find((one: { name: string }) => one.name === flag).isEnabled
    await page.getByRole('textbox', { name: 'Try a userId' }).fill(userId)
    await expect(page.getByRole('dialog').getByRole('status').filter({ hasText: 'place' })).toContainText(
      on ? 'Gets the flag: place' : 'Does not get the flag: place',
    )
  }
})

test('variants of an environment are added, weighted and evaluated', async ({ page, api }) => {
  const check = noConsoleErrors(page, /status of 400/)
  const flag = await newFlag(api)
  await api('POST', strategiesOf(flag, 'development'), { name: 'default' })
  await api('POST', `${features}/${flag}/environments/development/on`)
  await page.goto(`${pageOf(flag)}/variants`)
  await page.getByRole('button', { name: 'Add variants in development' }).click()
  const first = page.getByRole('group', { name: 'Variant 1' })
  const second = page.getByRole('group', { name: 'Variant 2' })
  await first.getByRole('textbox', { name: 'Name' }).fill('blue')
  await second.getByRole('textbox', { name: 'Name' }).fill('blue')
  await page.getByRole('button', { name: 'Save variants' }).click()
  await expect(page.getByRole('dialog')).toContainText('blue')
  await expect(second.getByRole('textbox', { name: 'Name' })).toHaveAttribute('aria-invalid', 'true')
  await second.getByRole('textbox', { name: 'Name' }).fill('green')
  await second.getByRole('checkbox', { name: 'Fixed weight' }).check()
  await second.getByRole('spinbutton', { name: 'Weight' }).fill('100')
  await expect(page.getByRole('dialog')).toContainText('The fixed weights total 100%')
  await second.getByRole('spinbutton', { name: 'Weight' }).fill('25.5')
  await pick(first.getByRole('combobox', { name: 'Payload' }), 'JSON')
  await first.getByRole('textbox', { name: 'Value' }).fill('{"color":"#00f"}')
  await second.getByRole('button', { name: 'Always give it to certain users' }).click()
  await second.getByRole('combobox', { name: 'Values of userId' }).fill('7')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Tab')
  await page.getByRole('button', { name: 'Save variants' }).click()
  await expect(page.getByRole('dialog')).toBeHidden()
  const table = page.getByRole('table', { name: 'Variants in development' })
  await expect(table.getByRole('row', { name: /blue/ })).toContainText('74.5%')
  await expect(table.getByRole('row', { name: /green/ })).toContainText('25.5%')

  const { features: results } = await api('POST', '/api/admin/playground', {
    environment: 'development',
    projects: ['default'],
    context: { appName: 'shop', userId: '7' },
  })
  expect(results.find((one: { name: string }) => one.name === flag).variant.name).toBe('green')
  const stored = await api('GET', `${features}/${flag}/environments/development/variants`)
  expect(stored.variants).toMatchObject([
    { name: 'blue', weight: 745, weightType: 'variable', payload: { type: 'json', value: '{"color":"#00f"}' } },
    { name: 'green', weight: 255, weightType: 'fix', overrides: [{ contextName: 'userId', values: ['7'] }] },
  ])
  check()
})

test('a flag gets a value type, and its payloads the field of the type', async ({ page, api }) => {
  const check = noConsoleErrors(page, /status of 400/)
  const flag = await newFlag(api)
  await page.goto(`${pageOf(flag)}/settings`)
  await pick(page.getByRole('combobox', { name: 'Values' }), 'JSON')
  await page.getByRole('textbox', { name: 'Default value' }).fill('{"size": 1}')
  await page.getByRole('textbox', { name: 'JSON Schema' }).fill('{"properties": {"size": {"type": "integer"}}}')
  await page.getByRole('button', { name: 'Save settings' }).click()
  await expect(page.getByText(`${flag}: settings saved`)).toBeVisible()
  expect(await api('GET', `${features}/${flag}`)).toMatchObject({ valueType: 'object', defaultValue: { size: 1 } })
  await page.goto(`${pageOf(flag)}/variants`)
  await page.getByRole('button', { name: 'Add variants in development' }).click()
  for (const [number, name, value] of [
    [1, 'small', '{"size": 1}'],
    [2, 'large', '{"size": "XL"}'],
  ] as const) {
    const variant = page.getByRole('group', { name: `Variant ${number}` })
    await variant.getByRole('textbox', { name: 'Name' }).fill(name)
    await variant.getByRole('textbox', { name: 'Value' }).fill(value)
  }
  await page.getByRole('button', { name: 'Save variants' }).click()
  await expect(page.getByRole('dialog')).toContainText('"large" in environment "development" does not match the valueSchema')
  await page.getByRole('group', { name: 'Variant 2' }).getByRole('textbox', { name: 'Value' }).fill('{"size": 9}')
  await page.getByRole('button', { name: 'Save variants' }).click()
  await expect(page.getByRole('dialog')).toBeHidden()
  check()
})

test('two people edit one strategy: the second sees what changed, reloads or overwrites', async ({ page, signedIn, api }) => {
  const flag = await newFlag(api)
  const { id } = await api('POST', strategiesOf(flag, 'development'), { name: 'flexibleRollout', parameters: { rollout: 10, stickiness: 'default' } })
  const stored = async () => (await api('GET', `${strategiesOf(flag, 'development')}/${id}`)).parameters.rollout
  const username = unique('anna')
  const anna = await api('POST', '/api/admin/user-admin', { name: 'Anna', username, rootRole: 1 })
  const hers = await signedIn(anna.id)
  const edit = async (person: Page, percentage: string) => {
    await person.goto(pageOf(flag))
    await person.getByRole('button', { name: 'Edit strategy in development' }).click()
    await person.getByRole('spinbutton', { name: 'Percentage' }).fill(percentage)
  }
  const save = (person: Page) => person.getByRole('button', { name: 'Save strategy' }).click()

  await edit(page, '20')
  await edit(hers, '30')
  await save(hers)
  await expect(hers.getByRole('dialog')).toBeHidden()
  await save(page)
  const conflict = page.getByRole('dialog', { name: `Anna changed this strategy while you were editing it` })
  await expect(conflict).toContainText('Stored now30% of users.')
  await expect(conflict).toContainText('Yours20% of users.')
  await expect(conflict.getByRole('region', { name: 'What changed in the strategy' })).toContainText('"rollout": "30"')
  expect(await stored()).toBe('30')
  await checkPage(page, 'flag-conflict')
  await conflict.getByRole('button', { name: 'Overwrite with mine' }).click()
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await expect(page.getByRole('article')).toContainText('20% of users')
  expect(await stored()).toBe('20')

  await edit(page, '40')
  await edit(hers, '50')
  await save(hers)
  await expect(hers.getByRole('article')).toContainText('50% of users')
  await save(page)
  await conflict.getByRole('button', { name: 'Discard mine and reload' }).click()
  await expect(conflict).toBeHidden()
  await expect(page.getByRole('spinbutton', { name: 'Percentage' })).toHaveValue('50')
  await page.getByRole('spinbutton', { name: 'Percentage' }).fill('60')
  await save(page)
  await expect(page.getByRole('article')).toContainText('60% of users')
  expect(await stored()).toBe('60')
})

test('a strategy that someone removed during the edit can be added again', async ({ page, api }) => {
  const flag = await newFlag(api)
  const { id } = await api('POST', strategiesOf(flag, 'development'), { name: 'flexibleRollout', parameters: { rollout: 10 } })
  // Its address needs no environment.
  await page.goto(`${pageOf(flag)}?strategy=${id}`)
  await page.getByRole('spinbutton', { name: 'Percentage' }).fill('15')
  await api('DELETE', `${strategiesOf(flag, 'development')}/${id}`)
  await page.getByRole('button', { name: 'Save strategy' }).click()
  await expect(page.getByText('This strategy was removed while you were editing it')).toBeVisible()
  await page.getByRole('button', { name: 'Save strategy' }).click()
  await expect(page.getByRole('article')).toContainText('15% of users')
  // The new one has another id.
  await page.goto(`${pageOf(flag)}?strategy=${id}`)
  await page.getByRole('dialog', { name: 'The strategy is not there' }).getByRole('button', { name: 'Show the flag' }).click()
  await expect(page).toHaveURL(pageOf(flag))
})

test('a strategy is created and switched on with the keyboard only', async ({ page, api }) => {
  const flag = await newFlag(api)
  await page.goto(pageOf(flag))
  const focus = async (target: ReturnType<Page['getByRole']>, key = 'Tab') => {
    await expect(target).toBeVisible()
    for (let i = 0; i < 80; i++) {
      if (await target.evaluate((element) => element === document.activeElement)) return
      await page.keyboard.press(key)
    }
    throw new Error('the keyboard does not reach the control')
  }
  await focus(page.getByRole('button', { name: 'Add strategy in development' }))
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog')
  await expect(dialog.getByRole('combobox', { name: 'Type' })).toBeFocused()
  await focus(dialog.getByRole('slider'))
  for (let i = 0; i < 5; i++) await page.keyboard.press('ArrowLeft')
  await expect(dialog.getByRole('spinbutton', { name: 'Percentage' })).toHaveValue('95')
  await focus(dialog.getByRole('button', { name: 'Add constraint' }))
  await page.keyboard.press('Enter')
  await expect(dialog.getByRole('combobox', { name: 'Context field' })).toBeFocused()
  await page.keyboard.type('country')
  await page.keyboard.press('Tab')
  await focus(dialog.getByRole('combobox', { name: 'Values' }))
  await page.keyboard.type('NO')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Tab')
  await focus(dialog.getByRole('button', { name: 'Add strategy' }))
  await page.keyboard.press('Enter')
  await expect(dialog).toBeHidden()
  await expect(page.getByRole('article')).toContainText('95% of users')
  await focus(page.getByRole('switch', { name: `${flag} in development` }), 'Shift+Tab')
  await page.keyboard.press('Space')
  await expect(page.getByRole('switch', { name: `${flag} in development` })).toBeChecked()
  await expect(page.getByText('On in development')).toBeVisible()
})

test('strategies are moved with the keyboard, copied, and removed with undo', async ({ page, api }) => {
  const flag = await newFlag(api)
  await api('POST', strategiesOf(flag, 'development'), { name: 'default', title: 'First' })
  await api('POST', strategiesOf(flag, 'development'), { name: 'default', title: 'Second' })
  await page.goto(pageOf(flag))
  await page.getByRole('button', { name: 'Move strategy 2 in development up' }).focus()
  await page.keyboard.press('Enter')
  await expect(page.getByRole('article', { name: 'Strategy 1: Second' })).toBeVisible()
  await expect(page.getByRole('button', { name: 'Move strategy 1 in development down' })).toBeFocused()
  await expect.poll(async () => (await api('GET', strategiesOf(flag, 'development'))).map((one: { title: string }) => one.title)).toEqual(['Second', 'First'])

  await page.getByRole('button', { name: 'More actions for strategy 1 in development' }).click()
  await page.getByRole('menuitem', { name: 'Copy to production' }).click()
  await expect(page.getByRole('region', { name: 'production' }).getByRole('article')).toHaveCount(1)

  await page.getByRole('button', { name: 'More actions for strategy in production' }).click()
  await page.getByRole('menuitem', { name: 'Remove' }).click()
  await expect(page.getByRole('region', { name: 'production' }).getByRole('article')).toHaveCount(0)
  await page.locator('.toast', { hasText: 'Strategy removed from production' }).getByRole('button', { name: 'Undo' }).click()
  await expect(page.getByRole('region', { name: 'production' }).getByRole('article', { name: 'Strategy 1: Second' })).toBeVisible()
})

test('a parent, a tag, a clone, and archiving with undo', async ({ page, api }) => {
  const check = noConsoleErrors(page, /status of 409/)
  const flag = await newFlag(api)
  const parent = await newFlag(api, unique('parent'))
  await page.goto(pageOf(flag))
  await page.getByRole('button', { name: 'Add parent' }).click()
  await page.getByRole('combobox', { name: 'Parent' }).fill(parent)
  await page.getByRole('option', { name: parent }).click()
  await page.getByRole('radio', { name: 'Off' }).check()
  await page.getByRole('dialog').getByRole('button', { name: 'Add parent' }).click()
  await expect(page.getByText(`${parent} must be off`)).toBeVisible()

  await page.getByRole('button', { name: 'Add tag' }).click()
  await page.getByRole('combobox', { name: 'Value' }).fill('shop')
  await page.getByRole('dialog').getByRole('button', { name: 'Add tag' }).click()
  await expect(page.getByRole('button', { name: 'Remove tag simple:shop' })).toBeVisible()

  await page.getByRole('button', { name: 'Actions', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Archive' }).click()
  await page
    .getByRole('dialog', { name: `Archive ${flag}?` })
    .getByRole('button', { name: 'Archive' })
    .click()
  await expect(page).toHaveURL('/projects/default')
  const messages = page.getByRole('region', { name: 'Messages' })
  await expect(messages.getByText(`Flag ${flag} archived`)).toBeVisible() // until then, Undo is about the parent
  await undo(page)
  expect((await api('GET', `${features}/${flag}`)).dependencies).toMatchObject([{ feature: parent, enabled: false }])

  await page.goto(pageOf(flag))
  await page.getByRole('button', { name: 'Actions', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Clone…' }).click()
  await page.getByRole('textbox', { name: 'Name of the new flag' }).fill(parent)
  await page.getByRole('button', { name: 'Clone flag' }).click()
  await expect(page.getByRole('textbox', { name: 'Name of the new flag' })).toHaveAttribute('aria-invalid', 'true')
  const clone = unique('clone')
  await page.getByRole('textbox', { name: 'Name of the new flag' }).fill(clone)
  await page.getByRole('button', { name: 'Clone flag' }).click()
  await expect(page.getByRole('heading', { level: 1, name: clone })).toBeVisible()
  check()
})

test('a flag has an owner, links and comments', async ({ page, api }) => {
  const check = noConsoleErrors(page, /status of 400/)
  const flag = await newFlag(api)
  await page.goto(pageOf(flag))
  const rail = page.getByRole('complementary', { name: `About ${flag}` })
  const dialog = page.getByRole('dialog')
  const messages = page.getByRole('region', { name: 'Messages' })
  await rail.getByRole('button', { name: 'Add an owner' }).click()
  await dialog.getByRole('combobox', { name: 'Owner' }).fill('Team Checkout')
  await dialog.getByRole('button', { name: 'Save owner' }).click()
  await expect(messages.getByText(`${flag}: the owner is Team Checkout`)).toBeVisible()
  await expect(rail).toContainText('Team Checkout')
  expect((await api('GET', `${features}/${flag}`)).owner).toBe('Team Checkout')
  await undo(page)
  await expect(rail.getByRole('button', { name: 'Add an owner' })).toBeVisible()

  await rail.getByRole('button', { name: 'Add link' }).click()
  await dialog.getByRole('textbox', { name: 'URL' }).fill('SHOP-1')
  await dialog.getByRole('button', { name: 'Add link' }).click()
  await expect(dialog).toContainText('Must be a URL that begins with https:// or http://')
  await dialog.getByRole('textbox', { name: 'URL' }).fill('https://tickets.example.com/SHOP-1')
  await dialog.getByRole('button', { name: 'Add link' }).click()
  await expect(dialog).toBeHidden()
  await rail.getByRole('button', { name: 'Actions for the link' }).click()
  await page.getByRole('menuitem', { name: 'Edit' }).click()
  await dialog.getByRole('textbox', { name: 'Title' }).fill('The ticket')
  await dialog.getByRole('button', { name: 'Save link' }).click()
  const link = rail.getByRole('link', { name: 'The ticket' })
  await expect(link).toHaveAttribute('href', 'https://tickets.example.com/SHOP-1')
  await rail.getByRole('button', { name: 'Actions for the link' }).click()
  await page.getByRole('menuitem', { name: 'Remove' }).click()
  await expect(link).toHaveCount(0)
  await messages.filter({ hasText: 'Link removed' }).getByRole('button', { name: 'Undo' }).click()
  await expect(link).toBeVisible()

  await page.getByRole('link', { name: 'History' }).click()
  await page.getByRole('textbox', { name: 'Comment' }).fill('Half of them on Tuesday.')
  await page.getByRole('button', { name: 'Comment', exact: true }).click()
  await expect(page.getByRole('list', { name: `Changes of ${flag}` })).toContainText('Half of them on Tuesday.')
  await expect(page.getByRole('textbox', { name: 'Comment' })).toHaveValue('')
  // It is not in the list of changes as well.
  await expect(page.getByText('Half of them on Tuesday.')).toHaveCount(1)
  await checkPage(page, 'flag-comments')
  check()
})

test('the dependencies of a flag that is on in production say so and ask, and all changes are undone', async ({ page, api }) => {
  const check = noConsoleErrors(page)
  const flag = await newFlag(api)
  const parent = await newFlag(api, unique('parent'))
  await api('POST', strategiesOf(flag, 'production'), { name: 'default' })
  await api('POST', `${features}/${flag}/environments/production/on`)
  const stored = async () => (await api('GET', `${features}/${flag}`)).dependencies.map((one: { enabled: boolean }) => one.enabled)
  const messages = page.getByRole('region', { name: 'Messages' })
  const undone = async (text: string) => {
    await undo(page, text)
    for (const button of await messages.getByRole('button', { name: 'Close message' }).all()) await button.click()
  }
  await page.goto(pageOf(flag))
  await page.getByRole('button', { name: 'Add parent' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('combobox', { name: 'Parent' }).fill(parent)
  await page.getByRole('option', { name: parent }).click()
  await expect(dialog).toContainText(`${flag} is on in production, and then only where ${parent} is on.`)
  await expect(dialog).toContainText('Applications follow with their next request.')
  await dialog.getByRole('button', { name: 'Add parent' }).click()
  await undone(`${flag}: depends on ${parent}`)
  expect(await stored()).toEqual([])

  await api('POST', `${features}/${flag}/dependencies`, { feature: parent })
  await page.reload()
  await page.getByRole('button', { name: `Edit dependency on ${parent}` }).click()
  await dialog.getByRole('radio', { name: 'Off' }).check()
  await expect(dialog).toContainText(`only where ${parent} is off.`)
  await dialog.getByRole('button', { name: 'Save' }).click()
  await undone(`${flag}: depends on ${parent}`)
  expect(await stored()).toEqual([true])

  await page.getByRole('button', { name: `Remove dependency on ${parent}` }).click()
  const question = page.getByRole('dialog', { name: `Remove the dependency of ${flag} on ${parent}?` })
  await question.getByRole('button', { name: 'Cancel' }).click()
  expect(await stored()).toEqual([true])
  await page.getByRole('button', { name: `Remove dependency on ${parent}` }).click()
  await question.getByRole('button', { name: 'Remove' }).click()
  await undone(`${flag}: no longer depends on ${parent}`)
  expect(await stored()).toEqual([true])

  // Undo leaves the dependency that another person has added since.
  await page.getByRole('button', { name: `Remove dependency on ${parent}` }).click()
  await question.getByRole('button', { name: 'Remove' }).click()
  await expect(messages.getByText(`${flag}: no longer depends on ${parent}`)).toBeVisible()
  await api('POST', `${features}/${flag}/dependencies`, { feature: parent, enabled: false })
  await messages.getByRole('button', { name: 'Undo' }).click()
  await expect(messages.getByText(`Not undone. Meanwhile the dependency on ${parent} has changed. Nothing was undone.`)).toBeVisible()
  expect(await stored()).toEqual([false])
  check()
})

test('a viewer sees why nothing can be changed', async ({ signedIn, api }) => {
  const flag = await fullFlag(api)
  const viewer = await api('POST', '/api/admin/user-admin', { name: 'Vera', username: unique('vera'), rootRole: 3 })
  const page = await signedIn(viewer.id)
  await page.goto(pageOf(flag))
  const production = page.getByRole('switch', { name: `${flag} in production` })
  await expect(production).toHaveAccessibleDescription(/You need the permission “Enable and disable flags” in project default and environment production/)
  await production.focus()
  await page.keyboard.press('Space')
  await expect(production).toBeChecked()
  await expect(page.getByRole('button', { name: 'Edit strategy 1 in production' })).toHaveAttribute('aria-disabled', 'true')
  await expect(page.getByRole('button', { name: 'Add parent' })).toHaveAttribute('aria-disabled', 'true')
  await page.goto(`${pageOf(flag)}/settings`)
  await expect(page.getByRole('textbox', { name: 'Description' })).toBeDisabled()
  await expect(page.getByRole('button', { name: 'Archive flag' })).toHaveAttribute('aria-disabled', 'true')
})

test('an archived flag can be revived on its page', async ({ page, api }) => {
  const flag = await newFlag(api)
  await api('DELETE', `${features}/${flag}`)
  await page.goto(pageOf(flag))
  await expect(page.getByRole('heading', { name: 'This flag is archived' })).toBeVisible()
  await checkPage(page, 'flag-archived')
  await page.getByRole('button', { name: 'Revive flag' }).click()
  await expect(page.getByRole('switch', { name: `${flag} in development` })).toBeVisible()
})

test('an unknown flag', async ({ page }) => {
  await page.goto(pageOf('no-such-flag'))
  await expect(page.getByRole('heading', { name: 'No such flag' })).toBeVisible()
  await expect(page.getByRole('link', { name: 'Search all projects' })).toBeVisible()
})
