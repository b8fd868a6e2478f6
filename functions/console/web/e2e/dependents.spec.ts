// Whoever changes a flag on which others depend is told which these are.
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
  await page.getByRole('button', { name: 'Import', exact: true }).click()
  await expect(page.getByRole('dialog', { name: 'Import 1 flag into production?' })).toContainText(sentence)
  check()
})
