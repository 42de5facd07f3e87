import { afterEach, describe, expect, test } from 'vitest'
import { en, type Message } from './i18n/en'
import { provideOthers, setLanguage, t } from './i18n/i18n.svelte'
import { japanese } from './japanese'
import { spanish } from './spanish'

/** The parts that a language has in full: what one sees first, the message field, approvals and the list. */
const whole =
  /^(?:app|signin|settings|sidebar|session|approval|risk|composer|mode|bypass|effort|empty|appearance|density|status)\./

const placeholders = (message: Message) =>
  [...new Set(JSON.stringify(message).match(/\{\w+\}/g))].sort()

// A language is one file: its texts are those of the English messages, with the same placeholders.
describe.each([
  ['ja', japanese],
  ['es', spanish],
])('%s', (_, texts) => {
  const shared = texts['i18n/en'] ?? {}

  test('has the first parts in full, and nothing that English has not', () => {
    const missing = Object.keys(en).filter((key) => whole.test(key) && !(key in shared))
    expect(missing).toEqual([])
    expect(Object.keys(shared).filter((key) => !(key in en))).toEqual([])
  })

  test.each(Object.keys(shared))('%s has the placeholders of the English text', (key) => {
    expect(placeholders(shared[key]!)).toEqual(placeholders(en[key as keyof typeof en]))
  })
})

describe('a language that is loaded', () => {
  afterEach(() => setLanguage('en'))

  test('leaves the page as it is while it cannot be loaded', async () => {
    provideOthers({ es: () => Promise.reject(new Error('gone')) })
    await expect(setLanguage('es')).rejects.toThrow('gone')
    expect(document.documentElement.lang).toBe('en')
  })

  test('is chosen by its name or by the system, and English stands for what it lacks', async () => {
    provideOthers({ ja: async () => japanese, es: async () => spanish })
    await setLanguage('es-MX')
    expect(document.documentElement.lang).toBe('es')
    expect(t('composer.send')).toBe('Enviar')
    expect(t('session.delete_tasks', { n: 2 })).toBe('Se detienen 2 órdenes que dejó en marcha.')
    expect(t('panel.rail')).toBe(en['panel.rail'])
    await setLanguage('ja')
    expect(t('composer.send')).toBe('送信')
    await setLanguage('pt-BR')
    expect(t('composer.send')).toBe('Send')
  })
})
