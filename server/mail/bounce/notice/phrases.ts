import { indexPhrases, normalizeWords, visitPhrases } from "../../replies/phrases";

/**
 * What servers write about an email that they did not deliver, in the syntax of `ReplyRule`. failed: it was
 * not delivered. waiting: the server tries again. late: the same, unless it is final. final: the server does
 * not try again.
 */
const ROWS = [
  {
    says: "failed",
    phrases: `undeliver | non deliver | nondeliver | returned mail | mail returned | return … sender | failure notice | fatal error
      {not_/t_/cannot/never_/unable/unsuccessful/impossible/failed/failure/fails/problem/trouble/error/difficult} … {deliver/reach/be sent/send/transmit/transfer/relay/forward/process/be accepted/receive}
      {message/mail/email/e mail/deliver/transmission/recipient/address/letter} … {fail/aborted/refused/rejected/returned/bounced/error/blocked}
      {fail/permanent/persistent/rejected/returned/fatal/error} … {deliver/message/mail/email/recipient/address}
      {user/recipient/mailbox/address/account/host/domain} … {unknown/invalid/not found/not exist/t exist/not known/not listed/not valid/not a valid/no longer/disabled/exceed/is full/over quota/unavailable}
      {unknown/invalid/no such/not a valid/not a known/disabled/unable to find} … {user/recipient/mailbox/address/account/host/domain}`,
  },
  {
    // German, Dutch, French, Spanish, Portuguese, Italian
    says: "failed",
    phrases: `nicht … {zugestellt/ubermittelt/ausgeliefert/zustellbar/erreich/gesendet/versendet/angenommen} | unzustellbar
      zustell … {fehl/nicht/gescheitert/unmoglich/abgebrochen} | fehler … {zustell/ubermittlung/versand}
      niet_ … {afgeleverd/bezorgd/verzonden/bestelbaar/geleverd} | onbestelbaar | {aflevering/bezorging} … {mislukt/fout}
      {n a_/n ont_/ne peu/n est_/pas_} … {remis/delivr/distribu/achemin/envoye/livre} | non {remis/distribu/delivr/livre}
      echec … {remise/distribution/livraison/envoi} | n existe p | impossible … {remettre/distribuer/delivrer/livrer/envoyer}
      {no se_/no pudo/no ha/no fue/no puede/nao_} … {entreg/enviad/enviar} | no entregad | devolvid | devuelto
      {error/falha/erro/problema/fallo} … {entrega/envio} | {impossibile/non_} … {recapit/consegn/inviat/inoltr}
      {existiert nicht/unbekannt/nicht gefunden/nicht vorhanden/inconnu/introuvable/no existe/desconocid/nao existe/non esiste/sconosciut/onbekend/bestaat niet}
      mancat … {recapito/consegna} | consegna … {fallita/non riuscita}`,
  },
  {
    // The languages of northern and eastern Europe, Turkish
    says: "failed",
    phrases: `{inte_/ikke/ikkje/ei_} … {lever/sand/send/toimit} | olevererbar | uleverbar | toimit … epaonnist
      nie_ … {dostarcz/doreczon/wyslan} | niedostarcz | niedoreczon | {neda/nelze/nebyl/nemohl} … doruc | nedoruc
      nem_ … kezbesit | kezbesites … sikertelen | {teslim edil/iletil/gonderil} … {emed/basarisiz} | {teslim edilemed/iletilemed/gonderilemed}
      не_ … {доставлен/доставит/отправлен} | недоставлен | ошибка доставки | возвращен`,
  },
  {
    // Japanese, Chinese, Korean
    says: "failed",
    phrases: `{送信/配信/配送/配達/送達/お届け/伝送} … {きません/ませんでした/不能/失敗/エラー} | 宛先不明 | 不達 | 届きません
      {投递/投遞/递送/遞送/发送/發送/送达/送達/寄送} … {失败/失敗} | 退信 | 退回 | {无法/無法/未能} … {投递/投遞/递送/遞送/发送/發送/送达/送達}
      반송 | {전송/배달/전달/발송} … {실패/되지}`,
  },
  {
    says: "waiting",
    phrases: `{need/have} to {resend/re send/retransmit} | warning … only_ | advisory only | no action is required
      still {being retried/queued/undelivered/in the queue/trying} | {not yet_/yet to_} … {deliver/sent/reach}
      will {continue/also continue/keep/be retried/retry/be attempted/be tried/try again}
      verzoger | zustellversuch … {fortgesetzt/wiederholt} | vertraagd | en retard | tentatives … {continu/poursui} | aplazad | retrasad
      ritardat | forsenk | opozn | zpozden | задерж | 延迟 | 延遲 | 遅延 | 지연`,
  },
  {
    says: "late",
    phrases: `{has been/is/was/are/been/being} {delayed/postponed} | delayed mail | delivery delay | notification delay | status delay
      {could not/unable to/not been able to} … {for past/for the past/for the last/for last} | attempts will {continue/be made}`,
  },
  {
    says: "final",
    phrases: `{will not/no longer/won t/not} {be retried/retry/be attempted/try again} | no {further/more/additional} {attempt/delivery attempt/retr}
      {giving/given/gave} up`,
  },
] as const;
const INDEX = indexPhrases<(typeof ROWS)[number]>(ROWS);

/** Characters that are searched at a time, and those that two searches share. */
const windowChars = 1_000;
const sharedChars = 100;

/** What a text says about the email that it reports on. */
export type Statement = { isFailed: boolean; isDelayed: boolean };

export function readStatement(text: string): Statement {
  const said = new Set<string>();
  for (let at = 0; at < text.length; at += windowChars - sharedChars)
    visitPhrases(
      INDEX,
      normalizeWords(text.slice(at, at + windowChars)),
      ({ says }) => !said.has(says),
      ({ says }) => said.add(says),
    );
  return {
    isFailed: said.has("failed"),
    isDelayed: said.has("waiting") || (said.has("late") && !said.has("final")),
  };
}
