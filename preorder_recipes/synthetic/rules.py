"""A synchronous grammar of a small SVO language (English) and a small SOV language.

A rule reads ``PARENT -> PARTS = TARGET : WEIGHT``. The parts stand in the source's order;
the target names them by number in its own order, and adds particles that translate
nothing. ``0+2`` is part 0, whose words also translate part 2. A part that the target
leaves out stays unaligned.

A category is ``LABEL/class``: the label is what trees and tags show; the class, which
they do not show, is what decides which rule was meant. So words decide the order:

* ``with the hammer`` belongs to the verb, ``with the lid`` to the noun before it;
* ``in the morning`` goes to the front, ``in the garden`` before the object;
* ``often`` stays in front of its verb phrase, ``slowly`` moves up to its verb;
* ``that`` opens a relative clause, a subordinate clause, or a noun phrase;
* ``before`` is followed by a clause or by a noun phrase;
* ``because`` comes after its clause, which goes first; ``so`` stays where it is.
"""

RULES = """
ROOT -> S .                             = 0 1                  : 10
ROOT -> S/question ?                    = 0 ka 1               : 1

S -> NP/person VP                       = 0 wa 1               : 9
S -> NP/thing VP/happen                 = 0 ga 1               : 3
S -> NP VP/be                           = 0 wa 1               : 3
S -> NP/person VP NP/when               = 2 0 wa 1             : 3
S -> NP/person VP PP/time               = 2 0 wa 1             : 4
S -> ADVP/clause S/plain                = 0 1                  : 2
S -> S/plain SBAR/reason                = 1 0                  : 4
S -> SBAR/reason , S/plain              = 0 1 2                : 2
S -> S/plain CC/clause S/plain          = 0 1 2                : 3
S/plain -> NP/person VP                 = 0 wa 1               : 5
S/plain -> NP/thing VP/happen           = 0 ga 1               : 2
S/plain -> NP/person VP PP/time         = 2 0 wa 1             : 2
S/question -> VBD/do NP/person VP/base  = 1 wa 2               : 1
SBAR/reason -> IN/reason S/plain        = 1 0                  : 1
SBAR/that -> IN/that S/plain            = 1 0                  : 1

VP -> VP/core                           = 0                    : 8
VP -> RB/frequency VP/core              = 0 1                  : 2
VP -> VBD/say SBAR/that                 = 1 0                  : 4
VP -> VBD/tell NP/person SBAR/that      = 1 ni 2 0             : 2
VP -> MD VP/base                        = 1 0                  : 2
VP -> VBD/do RB/not VP/base             = 2 1                  : 1
VP -> VP/core CC/phrase VP/core         = 0 1 2                : 1
VP/core -> VBD/take NP/thing            = 1 o 0                : 5
VP/core -> VBD/meet NP/person           = 1 ni 0               : 3
VP/core -> VBD/take NP/thing PP/place   = 2 1 o 0              : 5
VP/core -> VBD/take NP/thing PP/tool    = 1 o 2 0              : 5
VP/core -> VBD/take NP/thing ADVP/manner = 1 o 2 0             : 2
VP/core -> RB/manner VBD/take NP/thing  = 2 o 0 1              : 2
VP/core -> VBD/give NP/person NP/thing  = 1 ni 2 o 0           : 2
VP/core -> VBD/give NP/thing PP/to      = 2 1 o 0              : 2
VP/core -> VBD/go PP/goal               = 1 0                  : 2
VP/core -> VBD/go PP/goal PP/company    = 2 1 0                : 1
VP/core -> VBD/pick NP/thing RP/up      = 1 o 0+2              : 1
VP/core -> VBD/pick RP/up NP/thing      = 2 o 0+1              : 1
VP/core -> VBD/music DT NN/music        = 2 o 0                : 1
VP/core -> VBD/sport NN/sport           = 1 o 0                : 1
VP/core -> VBD/rest PP/place            = 1 0                  : 2
VP/base -> VB/take NP/thing             = 1 o 0                : 4
VP/base -> VB/take NP/thing PP/tool     = 1 o 2 0              : 1
VP/base -> VB/go PP/goal                = 1 0                  : 2
VP/base -> VB/meet NP/person            = 1 ni 0               : 1
VP/happen -> VBD/happen                 = 0                    : 1
VP/happen -> VBD/happen PP/place        = 1 0                  : 1
VP/happen -> RB/manner VBD/happen       = 0 1                  : 1
VP/happen -> VBD/happen PP/time         = 1 0                  : 1
VP/be -> VBD/be ADJP                    = 1 0                  : 2
VP/be -> VBD/be PP/at                   = 1 ni 0               : 1
ADJP -> JJ/state                        = 0                    : 2
ADJP -> RB/degree JJ/state              = 0 1                  : 1
ADJP -> RBR/more JJ/state PP/than       = 2 0 1                : 2
ADVP/manner -> RB/manner                = 0                    : 3
ADVP/manner -> RB/degree RB/manner      = 0 1                  : 1
ADVP/clause -> RB/clause                = 0                    : 1

NP -> NP/person                         = 0                    : 1
NP -> NP/thing                          = 0                    : 1
NP/person -> NP/who                     = 0                    : 9
NP/person -> PRP/person                 = 0                    : 2
NP/person -> NNP/person                 = 0                    : 3
NP/person -> NP/who SBAR/who            = 1 0                  : 4
NP/person -> NP/who PP/of-who           = 1 0                  : 1
NP/person -> NP/who CC/phrase NP/who    = 0 1 2                : 1
NP/who -> DT NN/person                  = 1                    : 4
NP/who -> DT/that NN/person             = 0 1                  : 1
NP/who -> DT JJ/person NN/person        = 1 2                  : 3
NP/who -> PRP$ NN/person                = 0 no 1               : 1
NP/thing -> NP/what                     = 0                    : 9
NP/thing -> NP/what SBAR/what           = 1 0                  : 4
NP/thing -> NP/what PP/of-what          = 1 0                  : 4
NP/thing -> PDT NP/what                 = 1 0                  : 1
NP/what -> DT NN/thing                  = 1                    : 4
NP/what -> DT/that NN/thing             = 0 1                  : 1
NP/what -> DT JJ/thing NN/thing         = 1 2                  : 3
NP/what -> PRP$ NN/thing                = 0 no 1               : 2
NP/what -> DT NN/stuff NN/thing         = 1 no 2               : 1
NP/where -> DT NN/where                 = 1                    : 3
NP/where -> DT JJ/thing NN/where        = 1 2                  : 1
NP/where -> DT NN/where PP/near         = 2 1                  : 1
NP/tool -> DT NN/tool                   = 1                    : 3
NP/tool -> DT JJ/thing NN/tool          = 1 2                  : 1
NP/time -> DT NN/time                   = 1                    : 3
NP/time -> DT/that NN/time              = 0 1                  : 1
NP/when -> JJ/last NN/time              = 0 1                  : 1
NP/when -> CD NN/days RB/ago            = 0 1 2                : 1

SBAR/what -> WDT/what S/made            = 1                    : 1
S/made -> NP/person VBD/take            = 0 ga 1               : 3
S/made -> NP/person VBD/take PP/place   = 0 ga 2 1             : 2
S/made -> NP/person VBD/give PP/to      = 0 ga 2 1             : 1
S/made -> NP/person VBD/take NP/when    = 0 ga 2 1             : 1
SBAR/who -> WP/who VP/core              = 1                    : 2
SBAR/who -> WP/who S/met                = 1                    : 1
S/met -> NP/person VBD/meet             = 0 ga 1               : 1
S/met -> NP/person VBD/meet PP/place    = 0 ga 2 1             : 1

PP/tool -> IN/tool NP/tool              = 1 0                  : 1
PP/place -> IN/place NP/where           = 1 0                  : 1
PP/at -> IN/at NP/where                 = 1 no 0               : 1
PP/near -> IN/near DT NN/where          = 2 no 0               : 1
PP/goal -> TO/goal NP/where             = 1 0                  : 1
PP/to -> TO/to NP/who                   = 1 0                  : 1
PP/company -> IN/company NP/who         = 1 0                  : 1
PP/time -> IN/time NP/time              = 1 0                  : 1
PP/than -> IN/than NP/thing             = 1 0                  : 1
PP/of-what -> IN/of NP/who              = 1 0                  : 1
PP/of-what -> IN/having DT NN/part      = 2 0                  : 2
PP/of-what -> IN/from NP/where          = 1 0                  : 1
PP/of-who -> IN/having DT NN/wear       = 2 0                  : 2
PP/of-who -> IN/from NP/where           = 1 0                  : 1
"""

# Category, then word=translation, the frequent ones first. ``a_b`` is two target words, ``a|b`` a free
# choice, and nothing after ``=`` a word that the target leaves out.
LEXICON = """
.            .=.
?            ?=?
,            ,=,
DT           the= a=
DT/that      that=ano this=kono
PRP$         my=watashi his=kare her=kanojo our=wareware
PDT          all=zenbu both=ryouhou
CD           two=ni three=san five=go
PRP/person   she=kanojo he=kare we=wareware they=karera
NNP/person   ken=ken mary=mearii naomi=naomi tom=tomu
NN/person    teacher=sensei girl=shoujo boy=shounen farmer=noufu doctor=isha|ishi friend=tomodachi \
             mother=haha student=gakusei baker=panya singer=kashu king=ou sailor=suifu judge=saibankan \
             cook=ryourinin
NN/thing     book=hon letter=tegami box=hako bread=pan picture=e cup=chawan door=to watch=tokei \
             window=mado apple=ringo chair=isu cake=keeki coat=gaitou map=chizu saw=nokogiri light=akari \
             bag=kaban ring=yubiwa
NN/stuff     paper=kami stone=ishi wood=ki glass=garasu gold=kin
NN/part      lid=futa handle=totte mark=shirushi crack=hibi
NN/wear      hat=boushi beard=hige scar=kizu umbrella=kasa
NN/tool      hammer=kanazuchi knife=naifu key=kagi saw=nokogiri rope=nawa brush=fude
NN/where     garden=niwa house=ie village=mura market=ichiba river=kawa school=gakkou bank=ginkou \
             forest=mori kitchen=daidokoro town=machi church=kyoukai bridge=hashi
NN/time      morning=asa night=yoru summer=natsu war=sensou evening=yuugata winter=fuyu
NN/days      days=nichi weeks=shuukan years=nen
NN/music     piano=piano violin=baiorin flute=fue
NN/sport     tennis=tenisu chess=chesu football=sakkaa
JJ/person    old=toshitotta young=wakai kind=shinsetsu_na tall=se_no_takai poor=mazushii clever=kashikoi
JJ/thing     old=furui new=atarashii big=ookii|ookina small=chiisai red=akai light=karui \
             beautiful=utsukushii heavy=omoi
JJ/state     beautiful=utsukushii famous=yuumei old=furui clean=kirei strange=hen cheap=yasui \
             quiet=shizuka
JJ/last      last=senshuu_no next=tsugi_no
VBD/take     found=mitsuketa made=tsukutta bought=katta saw=mita broke=kowashita painted=nutta \
             stole=nusunda opened=aketa read=yonda hid=kakushita cut=kitta washed=aratta left=nokoshita \
             sold=utta cleaned=souji_shita
VB/take      find=mitsukeru make=tsukuru buy=kau see=miru break=kowasu open=akeru read=yomu cut=kiru
VBD/meet     met=atta saw=atta helped=tetsudatta called=denwa_shita
VB/meet      meet=au help=tetsudau call=denwa_suru
VBD/give     gave=ageta sent=okutta showed=miseta lent=kashita
VBD/go       went=itta ran=hashitta walked=aruita returned=kaetta
VB/go        go=iku run=hashiru return=kaeru
VBD/pick     picked=hirotta looked=shirabeta
RP/up        up=
VBD/music    played=hiita practised=renshuu_shita
VBD/sport    played=shita practised=renshuu_shita liked=suki_datta
VBD/rest     slept=neta lived=sunda waited=matta worked=hataraita
VBD/happen   fell=ochita broke=kowareta disappeared=kieta burned=moeta opened=aita
VBD/say      said=itta thought=omotta knew=shitteita dreamed=yume_o_mita
VBD/tell     told=oshieta promised=yakusoku_shita
VBD/be       was=datta is=da
VBD/do       did=
MD           can=dekiru must=nakereba_naranai will=darou
RB/not       not=nai
RB/frequency often=yoku always=itsumo never=kesshite sometimes=tokidoki
RB/manner    slowly=yukkuri quickly=hayaku quietly=shizuka_ni carefully=chuuibukaku secretly=hisoka_ni
RB/degree    very=totemo rather=kanari
RB/clause    yesterday=kinou suddenly=totsuzen perhaps=tabun
RB/ago       ago=mae
RBR/more     more=motto less=sukunaku
CC/clause    but=ga and=soshite so=dakara
CC/phrase    and=to
IN/reason    because=kara when=toki before=mae_ni if=nara
IN/that      that=to
WDT/what     that= which=
WP/who       who= that=
IN/tool      with=de
IN/having    with=no_aru without=no_nai
IN/company   with=to
IN/place     in=de near=no_chikaku_de behind=no_ushiro_de
IN/at        in=naka near=chikaku behind=ushiro
IN/near      near=chikaku behind=ushiro
IN/from      from=kara_no in=no
IN/of        of=no by=ni_yoru
IN/than      than=yori
IN/time      in=ni before=no_mae_ni after=no_ato_de during=no_aida
TO/goal      to=e
TO/to        to=ni
"""
