// Questions and forms name the flags that depend on the one that changes.
import { expect, noConsoleErrors, test, unique, type Api } from './fixtures'

/** A project with a flag that is on in production for everyone, and another one that depends on it. */
async function family(api: Api, dependency: object = {}) {
  const [project, parent, child] = [unique('shop'), unique('cart'), unique('banner')]
  const features = `/api/admin/projects/${project}/features`
  await api('POST', '/api/admin/projects', { id: project, name: project })
  for (const name of [parent, child]) await api('POST', features, { name })
  await api('POST', `${features}/${parent}/environments/production/strategies`, { name: 'default' })
  await api('POST', `${features}/${parent}/environments/production/on`)
  await api('POST', `${features}/${child}/dependencies`, { feature: parent, ...dependency })
  return { project, features, parent, child }
}

test('a switch of several flags and an import name the flags that depend on them', async ({ page, api }) => {
  const check = noConsoleErrors(page)
  const { project, parent, child } = await family(api)
  const sentence = `These flags can change, too, because they depend on flags that change: ${child}.`
  await page.goto(`/projects/${project}`)
  await page.getByRole('checkbox', { name: `Select ${parent}` }).check()
  await page.getByRole('button', { name: 'Switch off' }).click()
  await page.getByRole('menuitem', { name: /^production/ }).click()
  const dialog = page.getByRole('dialog', { name: 'Switch 1 flag off in production?' })
  await expect(dialog).toContainText(sentence)
  await dialog.getByRole('button', { name: 'Cancel' }).click()

  await page.goto(`/import?project=${project}&environment=production`)
  const data = { features: [{ name: parent }], featureEnvironments: [{ featureName: parent, name: parent, environment: 'development', enabled: false }] }
  await page.getByRole('textbox', { name: 'Or paste the JSON' }).fill(JSON.stringify(data))
  await page.getByRole('button', { name: 'Check' }).click()
  await page.getByRole('button', { name: /^Import/ }).click()
  await expect(page.getByRole('dialog', { name: 'Import 1 flag into production?' })).toContainText(sentence)
  check()
})

test('the form of the variants of a parent names the flags that need one that goes, and the playground why its parent is another', async ({ page, api }) => {
  const check = noConsoleErrors(page)
  const { project, features, parent, child } = await family(api, { variants: ['red'] })
  const path = `${features}/${parent}/environments/production`
  const variable = (name: string) => ({ name, weight: 0, weightType: 'variable', stickiness: 'default' })
  await api('PUT', `${path}/variants`, ['red', 'blue'].map(variable))
  await page.goto(`/projects/${project}/flags/${parent}/variants?edit=production`)
  const dialog = page.getByRole('dialog', { name: 'Variants in production' })
  const needs = dialog.getByText(`These flags need a variant that is removed, renamed or gets 0% here: ${child} (red).`)
  const name = dialog.getByRole('textbox', { name: 'Name', exact: true }).first()
  await expect(name).toHaveValue('red')
  await expect(needs).toHaveCount(0)
  await name.fill('green')
  await expect(needs).toBeVisible()
  await name.fill('red')
  await expect(needs).toHaveCount(0)

  await api('PUT', `${path}/variants`, [variable('blue')])
  await api('POST', `${features}/${child}/environments/production/strategies`, { name: 'default' })
  await api('POST', `${features}/${child}/environments/production/on`)
  await page.goto(`/playground?projects=${project}&environments=production`)
  const row = page.getByRole('row', { name: new RegExp(child) })
  await expect(row).toContainText(`On only where ${parent} is on with red. It is on with blue: `)
  await row.getByRole('button', { name: child }).click()
  const decided = page.getByRole('dialog', { name: child }).getByRole('region', { name: `Parent ${parent}` })
  await expect(decided).toContainText('On')
  await decided.getByRole('link', { name: parent }).click()
  await expect(page.getByRole('heading', { level: 1, name: parent })).toBeVisible()
  check()
})
