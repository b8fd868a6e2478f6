import { checkPage } from './checkpage'
import { expect, noConsoleErrors, test, unique, type Api } from './fixtures'

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
  const segment = await api('POST', '/api/admin/segments', { name: unique('Beta users'), constraints: [{ contextName: 'userId', operator: 'IN', values: ['1', '2', '3'] }] })
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
  await expect(page.getByRole('region', { name: 'production' })).toContainText('On for everyone who matches at least one strategy.')
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
  await expect(page.getByRole('radio', { name: 'Release' })).toBeChecked()
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
  await page.getByRole('button', { name: 'Add strategy and switch on' }).click()
  await expect(production).toBeChecked()
  await expect(page.getByRole('article')).toContainText('10% of users')
  await page.getByRole('button', { name: 'Undo' }).click()
  await expect(page.getByRole('article')).toHaveCount(0)
  await expect(production).not.toBeChecked()
})
