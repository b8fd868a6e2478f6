import { execFile } from 'node:child_process'
import { checkPage } from './checkpage'
import { expect, test, unique } from './fixtures'

test('the commands of a flag do what its switches do, with the token of their caller', async ({ page, api, baseURL, server }) => {
  const flag = unique('shell')
  await api('POST', '/api/admin/projects/default/features', { name: flag })
  await api('POST', `/api/admin/projects/default/features/${flag}/environments/development/strategies`, { name: 'flexibleRollout' })
  await page.goto(`/projects/default/flags/${flag}`)
  await page.getByRole('button', { name: 'Actions', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Show as commands' }).click()
  const dialog = page.getByRole('dialog', { name: 'Commands' })
  await expect(dialog).toContainText(new URL(baseURL!).origin)
  await checkPage(page, 'command')
  const commands = await dialog.getByRole('region', { name: 'Commands', exact: true }).innerText()
  await expect(dialog.getByRole('button', { name: 'Copy Commands' })).toBeVisible()
  for (const cookie of await page.context().cookies()) expect(commands).not.toContain(cookie.value)
  const command = commands.split('\n\n').find((one) => one.startsWith('# Switch on in development'))!
  await run(command, { GUIDON_URL: baseURL!, GUIDON_TOKEN: server.adminToken! })
  const { environments } = await api('GET', `/api/admin/projects/default/features/${flag}`)
  expect(environments.find((one: { name: string }) => one.name === 'development').enabled).toBe(true)
})

function run(command: string, settings: Record<string, string>): Promise<void> {
  return new Promise((resolve, reject) => {
    execFile('sh', ['-c', command], { env: { ...process.env, ...settings }, timeout: 20_000 }, (error, stdout, stderr) =>
      error ? reject(new Error(`${error.message}\n${stdout}${stderr}`)) : resolve(),
    )
  })
}
