import mjml2html from "mjml";

/**
 * A long newsletter as a customer would send it: HTML rendered by mjml, a subject, and names in several
 * scripts.
 */
export type Newsletter = {
  title: string;
  from: string;
  to: string[];
  cc: string[];
  subject: string;
  html: string;
  text: string | null;
};

type Story = { heading: string; text: string; link: string; label: string };

type Issue = Omit<Newsletter, "html"> & {
  lang: string;
  dir: "ltr" | "rtl";
  preview: string;
  stories: Story[];
  footer: string;
};

const FAMILY = "👨‍👩‍👧‍👦";
const FLAGS = "🏳️‍🌈 🇬🇷 🇯🇵";

const ISSUES: Issue[] = [
  {
    title: "German and French, many recipients",
    lang: "de",
    dir: "ltr",
    from: '"Gärtnerei Löwenzahn, Köln" <post@gärtnerei-löwenzahn.example>',
    to: ["Jürgen Großmann <juergen@example.com>", "“Zoë” O'Hara <zoe@example.com>", "plain@example.com"],
    cc: ['"Müller \\"der Alte\\"" <mueller@example.com>'],
    subject: "Frühjahrspost: Über 40 Sträucher, fünf Süßkirschen und ein œuvre – für 12,50 €",
    preview: "Was im März in die Erde kommt",
    text: "Frühjahrspost\n\nÜber 40 Sträucher warten.\n.\nFrom the garden: bis bald!   \n\tIhre Gärtnerei",
    stories: [
      {
        heading: "Süßkirschen für schwere Böden",
        text: "Die Sorte „Königin“ trägt ab dem dritten Jahr. Größe: 2,40 m × 1,80 m; Ertrag ≈ 14 kg. Wer im Frühjahr pflanzt, gießt bis Juli täglich.",
        link: "https://shop.example.com/kirschen?größe=groß&sorte=königin",
        label: "Alle Süßkirschen ansehen",
      },
      {
        heading: "Le mot du jardinier",
        text: "Où planter l'œillet ? Là où le soleil s'attarde ; ça pousse déjà à Noël. Garçon, l'addition : 3 × 4,20 € = 12,60 €.",
        link: "https://shop.example.com/fr/%C5%93illets",
        label: "Découvrir les œillets",
      },
    ],
    footer: "Gärtnerei Löwenzahn · Äußere Straße 7 · 50667 Köln",
  },
  {
    title: "Arabic, right to left",
    lang: "ar",
    dir: "rtl",
    from: "مكتبة المدينة <salam@library.example>",
    to: ["ليلى حسن <layla@example.com>"],
    cc: ["محمد الأمين <amin@example.com>"],
    subject: "أهلاً بكم في نشرة الربيع: ٢٥ كتابًا جديدًا (Spring 2025) وخصم ٣٠٪",
    preview: "كتب جديدة كل أسبوع",
    text: null,
    stories: [
      {
        heading: "كتاب الشهر",
        text: "يأخذنا المؤلف إلى أسواق حلب القديمة، حيث تختلط رائحة القهوة بصوت الباعة. السعر: ٤٥ ريالًا بدلًا من ٦٠.",
        link: "https://library.example.com/كتاب-الشهر",
        label: "اقرأ المزيد",
      },
      {
        heading: "أمسية شعرية — Poetry night",
        text: "نلتقي يوم الخميس الساعة ٧:٣٠ مساءً في القاعة الكبرى (Hall B-12). الدخول مجاني، والمقاعد محدودة.",
        link: "https://library.example.com/events?id=77&lang=ar",
        label: "احجز مقعدك",
      },
    ],
    footer: "مكتبة المدينة، شارع النيل ١٥، القاهرة",
  },
  {
    title: "Chinese, Japanese and Korean",
    lang: "ja",
    dir: "ltr",
    from: "株式会社みどり <oshirase@midori.example>",
    to: ["山田 太郎 <taro@example.com>", "王小明 <wang@example.com>", "김민지 <minji@example.com>"],
    cc: [],
    subject: "【お知らせ】夏の新商品のご案内／新品上市／여름 신상품 안내 𠮷野家の隣で開店",
    preview: "夏の新商品",
    text: null,
    stories: [
      {
        heading: "冷たいお茶、三種",
        text: "宇治の玉露を水出しで。髙島屋と𠮷祥寺の店舗では七月一日から販売いたします。価格は一本四百八十円（税込）。",
        link: "https://midori.example.com/お茶",
        label: "商品を見る",
      },
      {
        heading: "新品上市",
        text: "夏季限定的冷泡茶已經到店。簡體字與繁體字:发与發,面与麵。凡購滿三瓶,贈送竹製杯墊一個。",
        link: "https://midori.example.com/zh",
        label: "立即購買",
      },
      {
        heading: "여름 신상품",
        text: "시원한 녹차 세 가지를 준비했습니다. 첫 주문 고객님께는 무료 배송과 작은 선물을 드립니다. 각하 \u1112\u1161\u11ab",
        link: "https://midori.example.com/ko",
        label: "자세히 보기",
      },
    ],
    footer: "京都市中京区 · 서울 종로구 · 台北市",
  },
  {
    title: "Emoji in sequences, marks on marks, 900 characters of subject",
    lang: "en",
    dir: "ltr",
    from: `${FAMILY} Family Club <club@family.example>`,
    to: ["Ann = Bob? <ann@example.com>", "=?utf-8?Q?not_encoded?= <tricky@example.com>"],
    cc: [],
    subject: `${FAMILY}${FLAGS} 👩🏽‍🚀🤝🏿 ${"👍🏻👍🏼👍🏽👍🏾👍🏿".repeat(8)} z͑ͫ̓a͗ͪl̈́g̃o`.padEnd(900, "☺"),
    preview: "🎉 All of us",
    text: null,
    stories: [
      {
        heading: `${FAMILY} picnic ${FLAGS}`,
        text: `Bring a friend 👩🏽‍❤️‍💋‍👨🏻, a dog 🐕‍🦺 and a kite 🪁. ${"🧑‍🤝‍🧑".repeat(40)} A price of 5 = 5, 100% sure; C:\\temp\\=20.`,
        link: "https://family.example.com/picnic?who=%F0%9F%91%A8&x=1&y==2",
        label: "Count me in 🙋🏾‍♀️",
      },
    ],
    footer: "Unsubscribe any time 🙂",
  },
];

/** Renders the corpus, each of tens of kilobytes. */
export async function renderNewsletters(): Promise<Newsletter[]> {
  return Promise.all(
    ISSUES.map(async (issue) => {
      const { html } = await mjml2html(writeIssue(issue));
      const { title, from, to, cc, subject, text } = issue;
      return { title, from, to, cc, subject, html, text };
    }),
  );
}

/** The stories are repeated to reach the length of a long newsletter. */
function writeIssue({ lang, dir, preview, stories, footer, subject }: Issue): string {
  const align = dir === "rtl" ? "right" : "left";
  const sections = Array.from({ length: 6 }, () => stories)
    .flat()
    .map(
      (story, index) => `
      <mj-section background-color="${index % 2 === 0 ? "#ffffff" : "#f4f4f0"}">
        <mj-column width="35%"><mj-image src="https://img.example.com/${index}.png" alt="${story.heading}" /></mj-column>
        <mj-column width="65%">
          <mj-text align="${align}" font-size="20px">${story.heading}</mj-text>
          <mj-text align="${align}">${story.text} ${story.text}</mj-text>
          <mj-button href="${story.link.replaceAll("&", "&amp;")}">${story.label}</mj-button>
        </mj-column>
      </mj-section>`,
    );
  return `<mjml lang="${lang}" dir="${dir}">
    <mj-head>
      <mj-title>${subject.slice(0, 60)}</mj-title>
      <mj-preview>${preview}</mj-preview>
      <mj-attributes><mj-all font-family="Georgia, serif" /></mj-attributes>
    </mj-head>
    <mj-body width="600px">
      ${sections.join("\n")}
      <mj-section><mj-column><mj-text align="${align}" font-size="11px">${footer}</mj-text></mj-column></mj-section>
    </mj-body>
  </mjml>`;
}
