"""Cities of the world, with the haversine metric.

Latitude and longitude do not form a plane: across the date line, neighbours differ by nearly 360
degrees, and towards the poles a degree of longitude is short. `metric="haversine"` measures
distances on the sphere, so Suva, Apia and Auckland, on both sides of the date line, are in the same
cluster. The defaults find two clusters, the Americas and the rest; here the number is set to
eleven, to show parts of continents.
"""

import argparse
import re

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patheffects import withStroke

from pskclust import PSKC
from pskclust.plotting import cluster_colours

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--picture", default="cities.png")
options = parser.parse_args()

# Name, latitude and longitude of each city, rounded to half a degree.
CITIES = """
London 51.5 0, Paris 49 2.5, Madrid 40.5 -3.5, Lisbon 38.5 -9, Barcelona 41.5 2, Rome 42 12.5,
Milan 45.5 9, Naples 41 14.5, Berlin 52.5 13.5, Hamburg 53.5 10, Munich 48 11.5, Cologne 51 7,
Vienna 48 16.5, Prague 50 14.5, Warsaw 52 21, Krakow 50 20, Budapest 47.5 19, Bucharest 44.5 26,
Sofia 42.5 23.5, Belgrade 45 20.5, Athens 38 23.5, Zagreb 46 16, Amsterdam 52.5 5, Brussels 51
4.5, Copenhagen 55.5 12.5, Stockholm 59.5 18, Oslo 60 10.5, Helsinki 60 25, Dublin 53.5 -6.5,
Edinburgh 56 -3, Manchester 53.5 -2, Lyon 46 5, Marseille 43.5 5.5, Toulouse 43.5 1.5, Zurich
47.5 8.5, Riga 57 24, Vilnius 54.5 25.5, Minsk 54 27.5, Kyiv 50.5 30.5, Lviv 50 24, Odesa 46.5
30.5, Moscow 55.5 37.5, Petersburg 60 30.5, Seville 37.5 -6, Bilbao 43.5 -3, Porto 41 -8.5,
Istanbul 41 29, Ankara 40 33, Izmir 38.5 27, Cairo 30 31, Alexandria 31 30, Beirut 34 35.5,
Damascus 33.5 36.5, Amman 32 36, Jerusalem 32 35, TelAviv 32 35, Baghdad 33.5 44.5, Tehran 35.5
51.5, Isfahan 32.5 51.5, Riyadh 24.5 46.5, Jeddah 21.5 39, Dubai 25 55.5, Doha 25.5 51.5, Kuwait
29.5 48, Muscat 23.5 58.5, Baku 40.5 50, Tbilisi 41.5 45, Yerevan 40 44.5, Delhi 28.5 77, Mumbai
19 73, Kolkata 22.5 88.5, Chennai 13 80.5, Bangalore 13 77.5, Hyderabad 17.5 78.5, Ahmedabad 23
72.5, Pune 18.5 74, Jaipur 27 76, Lucknow 27 81, Kanpur 26.5 80.5, Nagpur 21 79, Surat 21 73,
Karachi 25 67, Lahore 31.5 74.5, Islamabad 33.5 73, Dhaka 24 90.5, Chittagong 22.5 92, Colombo 7
80, Kathmandu 27.5 85.5, Patna 25.5 85, Bhopal 23.5 77.5, Beijing 40 116.5, Tianjin 39 117,
Shanghai 31 121.5, Nanjing 32 119, Hangzhou 30.5 120, Wuhan 30.5 114.5, Guangzhou 23 113.5,
Shenzhen 22.5 114, HongKong 22.5 114, Chengdu 30.5 104, Chongqing 29.5 106.5, Xian 34.5 109,
Zhengzhou 35 113.5, Jinan 36.5 117, Qingdao 36 120.5, Shenyang 42 123.5, Harbin 46 126.5, Dalian
39 121.5, Changsha 28 113, Kunming 25 102.5, Fuzhou 26 119.5, Taipei 25 121.5, Kaohsiung 22.5
120.5, Seoul 37.5 127, Busan 35 129, Pyongyang 39 126, Tokyo 35.5 139.5, Osaka 34.5 135.5,
Nagoya 35 137, Sapporo 43 141.5, Fukuoka 33.5 130.5, Sendai 38.5 141, Hiroshima 34.5 132.5,
Manila 14.5 121, Cebu 10.5 124, Davao 7 125.5, Bangkok 13.5 100.5, Hanoi 21 106, Saigon 11
106.5, PhnomPenh 11.5 105, Yangon 17 96, KualaLumpur 3 101.5, Singapore 1.5 104, Penang 5.5
100.5, Jakarta -6 107, Bandung -7 107.5, Surabaya -7.5 112.5, Medan 3.5 98.5, Palembang -3 105,
Makassar -5 119.5, Denpasar -8.5 115, Semarang -7 110.5, NewYork 40.5 -74, Boston 42.5 -71,
Philadelphia 40 -75, Washington 39 -77, Baltimore 39.5 -76.5, Pittsburgh 40.5 -80, Toronto 43.5
-79.5, Montreal 45.5 -73.5, Ottawa 45.5 -75.5, Quebec 47 -71, Buffalo 43 -79, Cleveland 41.5
-81.5, Detroit 42.5 -83, Chicago 42 -87.5, Milwaukee 43 -88, Columbus 40 -83, Cincinnati 39
-84.5, Indianapolis 40 -86, StLouis 38.5 -90, Louisville 38 -86, Nashville 36 -87, Atlanta 33.5
-84.5, Charlotte 35 -81, Richmond 37.5 -77.5, Jacksonville 30.5 -81.5, Orlando 28.5 -81.5, Miami
26 -80, Tampa 28 -82.5, Memphis 35 -90, NewOrleans 30 -90, Birmingham 33.5 -87, Houston 30
-95.5, Dallas 33 -97, Austin 30.5 -97.5, SanAntonio 29.5 -98.5, Oklahoma 35.5 -97.5, Minneapolis
45 -93.5, Omaha 41.5 -96, KansasCity 39 -94.5, Denver 39.5 -105, Albuquerque 35 -106.5, Phoenix
33.5 -112, Tucson 32 -111, LasVegas 36 -115, LosAngeles 34 -118, SanDiego 32.5 -117,
SanFrancisco 38 -122.5, Sacramento 38.5 -121.5, Portland 45.5 -122.5, Seattle 47.5 -122.5,
Vancouver 49.5 -123, Calgary 51 -114, Edmonton 53.5 -113.5, SaltLake 41 -112, Mexico 19.5 -99,
Guadalajara 20.5 -103.5, Monterrey 25.5 -100.5, Puebla 19 -98, Tijuana 32.5 -117, Havana 23
-82.5, Guatemala 14.5 -90.5, SanSalvador 13.5 -89, Tegucigalpa 14 -87, Managua 12 -86.5, SanJose
10 -84, Panama 9 -79.5, Kingston 18 -77, SantoDomingo 18.5 -70, SanJuan 18.5 -66, Caracas 10.5
-67, Maracaibo 10.5 -71.5, Bogota 4.5 -74, Medellin 6.5 -75.5, Cali 3.5 -76.5, Barranquilla 11
-75, Quito 0 -78.5, Guayaquil -2 -80, Lima -12 -77, Trujillo -8 -79, LaPaz -16.5 -68, SantaCruz
-18 -63, Santiago -33.5 -70.5, Valparaiso -33 -71.5, Concepcion -37 -73, BuenosAires -34.5
-58.5, Cordoba -31.5 -64, Rosario -33 -60.5, Mendoza -33 -69, Montevideo -35 -56, Asuncion -25.5
-57.5, SaoPaulo -23.5 -46.5, Rio -23 -43, BeloHorizonte -20 -44, Brasilia -16 -48, Salvador -13
-38.5, Recife -8 -35, Fortaleza -3.5 -38.5, Belem -1.5 -48.5, Curitiba -25.5 -49, PortoAlegre
-30 -51, Goiania -16.5 -49.5, Campinas -23 -47, Lagos 6.5 3.5, Ibadan 7.5 4, Abuja 9 7.5, Kano
12 8.5, PortHarcourt 5 7, Accra 5.5 0, Kumasi 6.5 -1.5, Abidjan 5.5 -4, Lome 6 1, Cotonou 6.5
2.5, Douala 4 9.5, Yaounde 4 11.5, Dakar 14.5 -17.5, Bamako 12.5 -8, Ouagadougou 12.5 -1.5,
Niamey 13.5 2, Conakry 9.5 -13.5, Freetown 8.5 -13, Monrovia 6.5 -11, Nairobi -1.5 37, Mombasa
-4 39.5, Kampala 0.5 32.5, Kigali -2 30, DarEsSalaam -7 39.5, Addis 9 38.5, Khartoum 15.5 32.5,
Mogadishu 2 45.5, Kinshasa -4.5 15.5, Luanda -9 13, Lusaka -15.5 28.5, Harare -18 31, Lilongwe
-14 34, Maputo -26 32.5, Johannesburg -26 28, Pretoria -25.5 28, Durban -30 31, CapeTown -34
18.5, PortElizabeth -34 25.5, Gaborone -24.5 26, Windhoek -22.5 17, Antananarivo -19 47.5, Tunis
37 10, Algiers 36.5 3, Casablanca 33.5 -7.5, Rabat 34 -7, Fes 34 -5, Tripoli 33 13, Sydney -34
151, Melbourne -38 145, Brisbane -27.5 153, Canberra -35.5 149, Adelaide -35 138.5, GoldCoast
-28 153.5, Newcastle -33 152, Hobart -43 147.5, Perth -32 116, Auckland -37 175, Wellington
-41.5 175, Christchurch -43.5 172.5, Hamilton -38 175.5, Dunedin -46 170.5, Suva -18 178.5, Apia
-14 -172, Nukualofa -21 -175, Noumea -22.5 166.5
"""
names, places = [], []
for entry in CITIES.replace("\n", " ").split(","):
    name, latitude, longitude = entry.split()
    names.append(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name))
    places.append((float(latitude), float(longitude)))
places = np.array(places)

model = PSKC(n_clusters=11, metric="haversine", random_state=0).fit(places)

figure, axes = plt.subplots(figsize=(9, 4.4), layout="constrained")
axes.scatter(places[:, 1], places[:, 0], s=16, c=cluster_colours(model.n_clusters_)[model.labels_])
axes.set(xlim=(-180, 180), ylim=(-55, 70), aspect=1.2, xlabel="longitude", ylabel="latitude")
axes.set_title(f"{model.n_clusters_} clusters of {len(names)} cities")
axes.grid(alpha=0.2)

for cluster in range(model.n_clusters_):
    members = np.flatnonzero(model.labels_ == cluster)
    typical = members[np.argsort(-model.similarities_[members])[:6]]
    city = typical[0]
    axes.annotate(
        names[city],
        places[city, ::-1],
        xytext=(0, 5),
        textcoords="offset points",
        ha="center",
        weight="bold",
        fontsize=9,
        path_effects=[withStroke(linewidth=3, foreground="white")],
    )
    print(f"{len(members):3} cities, such as {', '.join(names[city] for city in typical)}")
figure.savefig(options.picture, dpi=100)
