/** A folder of .proto files is read with what its links lead to, and a link up ends. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test, type TestContext } from 'node:test'
import { readProtoFolder } from '../../../gateway/documents/proto-folder.ts'

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'preflight-proto-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

function write(folder: string, ...paths: readonly string[]): void {
  for (const path of paths) {
    mkdirSync(join(folder, path, '..'), { recursive: true })
    writeFileSync(join(folder, path), 'syntax = "proto3";')
  }
}

const named = async (folder: string): Promise<readonly string[]> =>
  Object.keys(JSON.parse(await readProtoFolder(folder, 1 << 20)))

suite('a folder of .proto files', () => {
  test('as a volume of Kubernetes has it: files and folders are links', async (t) => {
    const folder = folderOf(t)
    write(folder, '..2026/a.proto', '..2026/v1/b.proto', '..2026/v1/deep/c.proto')
    symlinkSync('..2026', join(folder, '..data'))
    symlinkSync('..data/a.proto', join(folder, 'a.proto'))
    symlinkSync('..data/v1', join(folder, 'v1'))
    assert.deepEqual(await named(folder), ['a.proto', 'v1/b.proto', 'v1/deep/c.proto'])
  })

  test('with links to a folder elsewhere, beside each other and through each other', async (t) => {
    const [folder, elsewhere] = [folderOf(t), folderOf(t)]
    write(folder, 'own/a.proto')
    write(elsewhere, 'b.proto')
    symlinkSync(elsewhere, join(folder, 'one'))
    symlinkSync('one', join(folder, 'two'))
    assert.deepEqual(await named(folder), ['one/b.proto', 'own/a.proto', 'two/b.proto'])
  })

  test('with links that lead up, to themselves, or nowhere', async (t) => {
    const folder = folderOf(t)
    write(folder, 'v1/a.proto')
    symlinkSync('..', join(folder, 'v1/up'))
    symlinkSync('.', join(folder, 'here'))
    symlinkSync('gone', join(folder, 'nowhere'))
    assert.deepEqual(await named(folder), ['v1/a.proto'])
  })

  test('with more paths through links than are read is refused', async (t) => {
    const folder = folderOf(t)
    write(folder, 'end/a.proto')
    let below = 'end'
    for (let level = 0; level < 14; level += 1) {
      const name = `level${level}`
      mkdirSync(join(folder, name))
      for (const side of ['left', 'right']) symlinkSync(join('..', below), join(folder, name, side))
      below = name
    }
    await assert.rejects(readProtoFolder(folder, 1 << 20), /more than 5000/)
  })

  test('without a file that a link names is refused', async (t) => {
    const folder = folderOf(t)
    write(folder, 'a.proto')
    symlinkSync('gone.proto', join(folder, 'b.proto'))
    await assert.rejects(readProtoFolder(folder, 1 << 20), /ENOENT/)
  })
})
